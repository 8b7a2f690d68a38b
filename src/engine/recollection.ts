import { rowId } from "../client/list.ts";
import { type Imprint, type KnownPage, type KnownRow, knownRow, type Recall, type SeenPage } from "../client/recall.ts";
import type { JsonObject } from "../contract/json.ts";
import type { Shape } from "../contract/shape.ts";
import { isSurelySame } from "../core/decide.ts";
import { type Kind, type ListReading, type LiveRow, readRow } from "../core/kind.ts";
import type { Identity, Manifest } from "../core/manifest.ts";
import type { RecordedHead } from "../core/recorded.ts";
import type { Accord, ListFacts, PageFact, Remembered, RowFact } from "./accord.ts";

/** What a run recalls of earlier ones while it reads live, and what it sees on the way. */
export type Recollection = {
  /** What is known of the list of a kind. */
  readonly recall: (kind: Kind) => Recall;
  /** What is remembered of a row that was known. */
  readonly factOf: (kind: Kind, row: KnownRow) => RowFact;
  /** Takes note of a row that was read. */
  readonly note: (kind: Kind, imprint: Imprint, fact: RowFact) => void;
  /** Takes note that a list was read to its end. */
  readonly finish: (kind: Kind) => void;
  /** Whether a resource need not be looked at, since live shows the row with which its manifest was in accord. */
  readonly isKept: (identity: Identity, row: Imprint) => boolean;
  /** The accord that was found earlier, and still holds as far as manifest and receipt go. */
  readonly accordOf: (identity: Identity) => Accord | undefined;
  /** The accords that were found while rows were read. */
  readonly found: ReadonlyMap<Identity, Accord>;
  /** Every list that was read to its end, as it is now; null where each is as it was. */
  readonly seen: () => ReadonlyMap<string, ListFacts> | null;
};

/** What accords rest on. */
export type Standing = {
  readonly manifests: readonly Manifest[];
  readonly recorded: ReadonlyMap<Identity, RecordedHead>;
  /** Whether what is in accord must be recorded too. */
  readonly records: boolean;
  readonly shapeOf: (type: string) => Shape;
};

/** Recalls what is remembered, as far as manifests and receipts are what they were. */
export function recollect(remembered: Remembered, standing: Standing): Recollection {
  const accords = holding(remembered.accords, standing);
  const declared = new Set(standing.manifests.map(({ identity }) => identity));
  const open = new Set([...declared, ...standing.recorded.keys()].filter((identity) => !accords.has(identity)));
  const found = new Map<Identity, Accord>();
  const lists = new Map<string, ListMemory>();
  const memoryOf = (kind: Kind): ListMemory => {
    const { type, versions } = kind;
    const known = lists.get(type);
    if (known !== undefined) return known;
    const isOpen = ({ key, version }: RowFact): boolean =>
      open.size > 0 &&
      (open.has(`${type}/${key}`) || (versions !== undefined && open.has(`${type}/${key}@${version}`)));
    const judge = standing.records ? undefined : judgeOf(kind, standing, found);
    const made = new ListMemory(remembered.lists.get(type), { isOpen, ...(judge && { judge }) });
    lists.set(type, made);
    return made;
  };
  return {
    found,
    accordOf: (identity) => accords.get(identity),
    recall: (kind) => memoryOf(kind).recall,
    factOf: (kind, row) => memoryOf(kind).factOf(row),
    note: (kind, imprint, fact) => memoryOf(kind).note(imprint, fact),
    finish: (kind) => memoryOf(kind).finish(),
    isKept: (identity, row) =>
      !declared.has(identity) || accords.get(identity)?.row === row || found.get(identity)?.row === row,
    seen: () => {
      const whole = [...lists].filter(([, { isWhole }]) => isWhole);
      return whole.some(([, { isNew }]) => isNew) ? new Map(whole.map(([type, list]) => [type, list.seen])) : null;
    },
  };
}

/** What a row that was just read tells of itself, where it is surely what its manifest says and nothing was recorded. */
type Judge = (row: JsonObject, imprint: Imprint) => RowFact | null;

// Most of live is as it should be: what is seen to be so at once need not be held until everything is decided.
function judgeOf(kind: Kind, { manifests, recorded, shapeOf }: Standing, found: Map<Identity, Accord>): Judge {
  const { list, type, versions } = kind;
  const unrecorded = new Map(
    manifests.flatMap((manifest): [Identity, Manifest][] =>
      manifest.kind === type && !recorded.has(manifest.identity) ? [[manifest.identity, manifest]] : [],
    ),
  );
  return (row, imprint) => {
    const live = list === undefined ? null : rowOf(list, row);
    if (live === null) return null;
    const { key, version = null } = live;
    // Which row a manifest without a number stands for only the whole list tells.
    const identity = versions === undefined ? `${type}/${key}` : `${type}/${key}@${version}`;
    const manifest = unrecorded.get(identity);
    if (manifest?.digest === undefined) return null;
    if (!isSurelySame(kind, shapeOf(type), manifest.value, live.manifest)) return null;
    found.set(identity, { manifest: manifest.digest, row: imprint, receipt: null });
    manifest.forget?.();
    return { id: rowId(row), key, version };
  };
}

// A row that cannot be read is for those to refuse who read them all.
function rowOf(list: ListReading, row: JsonObject): LiveRow | null {
  try {
    return readRow(list, row);
  } catch {
    return null;
  }
}

function holding(accords: Remembered["accords"], { manifests, recorded, records }: Standing) {
  return new Map(
    manifests.flatMap(({ identity, digest }) => {
      const accord = accords.get(identity);
      const receipt = recorded.get(identity)?.mark ?? null;
      if (accord === undefined || accord.manifest !== digest || accord.receipt !== receipt) return [];
      return records && receipt === null ? [] : [[identity, accord] as const];
    }),
  );
}

const NO_FACTS: ListFacts = { rows: new Map(), pages: new Map() };

/** What is remembered and what is seen of one list. */
class ListMemory {
  readonly #before: ListFacts;
  readonly #rows = new Map<Imprint, RowFact>();
  readonly #pages = new Map<Imprint, PageFact>();
  readonly #isOpen: (fact: RowFact) => boolean;
  readonly #judge: Judge | undefined;
  isNew = false;
  isWhole = false;

  constructor(
    before: ListFacts = NO_FACTS,
    { isOpen, judge }: { readonly isOpen: (fact: RowFact) => boolean; readonly judge?: Judge },
  ) {
    this.#before = before;
    this.#isOpen = isOpen;
    this.#judge = judge;
  }

  get recall(): Recall {
    const row = (imprint: Imprint): KnownRow | null => this.#row(imprint);
    const settle = (one: JsonObject, imprint: Imprint): KnownRow | null => this.#settle(one, imprint);
    // Pages pay from the second time on: a page of which nothing is known yet need not be known as a whole.
    if (this.#before.rows.size === 0) return { row, settle };
    return {
      row,
      settle,
      page: (imprint) => this.#page(imprint),
      sawPage: (imprint, page) => this.#sawPage(imprint, page),
    };
  }

  get seen(): ListFacts {
    // A row that moved between pages while they were read may be known by its last place alone.
    const pages = [...this.#pages].filter(([, { rows }]) => rows.every((row) => this.#rows.has(row)));
    return { rows: this.#rows, pages: new Map(pages) };
  }

  factOf({ imprint }: KnownRow): RowFact {
    const fact = this.#rows.get(imprint);
    if (fact === undefined) throw new TypeError("a row is known of which nothing is remembered");
    return fact;
  }

  finish(): void {
    this.isWhole = true;
  }

  note(imprint: Imprint, fact: RowFact): void {
    this.isNew ||= !this.#before.rows.has(imprint);
    this.#rows.set(imprint, fact);
  }

  #row(imprint: Imprint): KnownRow | null {
    const fact = this.#before.rows.get(imprint);
    if (fact === undefined || this.#isOpen(fact)) return null;
    this.#rows.set(imprint, fact);
    return knownRow(imprint, fact.id);
  }

  #settle(row: JsonObject, imprint: Imprint): KnownRow | null {
    const fact = this.#judge?.(row, imprint) ?? null;
    if (fact === null) return null;
    this.note(imprint, fact);
    return knownRow(imprint, fact.id);
  }

  #page(imprint: Imprint): KnownPage | null {
    const page = this.#before.pages.get(imprint);
    if (page === undefined) return null;
    const rows = page.rows.map((row) => this.#row(row)).filter((row) => row !== null);
    if (rows.length < page.rows.length) return null;
    this.#pages.set(imprint, page);
    return { rows, total: page.total };
  }

  #sawPage(imprint: Imprint, page: SeenPage): void {
    this.isNew ||= !this.#before.pages.has(imprint);
    this.#pages.set(imprint, page);
  }
}
