import { type Imprint, type KnownPage, type KnownRow, knownRow, type Recall, type SeenPage } from "../client/recall.ts";
import type { Kind } from "../core/kind.ts";
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
  /** The accords that still hold. */
  readonly accords: ReadonlyMap<Identity, Accord>;
  /** Every list that was read to its end, as it is now; null where each is as it was. */
  readonly seen: () => ReadonlyMap<string, ListFacts> | null;
};

/** What accords rest on. */
export type Standing = {
  readonly manifests: readonly Manifest[];
  readonly recorded: ReadonlyMap<Identity, RecordedHead>;
  /** Whether what is in accord must be recorded too. */
  readonly records: boolean;
};

/** Recalls what is remembered, as far as manifests and receipts are what they were. */
export function recollect(remembered: Remembered, standing: Standing): Recollection {
  const accords = holding(remembered.accords, standing);
  const declared = new Set(standing.manifests.map(({ identity }) => identity));
  const open = new Set([...declared, ...standing.recorded.keys()].filter((identity) => !accords.has(identity)));
  const lists = new Map<string, ListMemory>();
  const memoryOf = ({ type, versions }: Kind): ListMemory => {
    const known = lists.get(type);
    if (known !== undefined) return known;
    const isOpen = ({ key, version }: RowFact): boolean =>
      open.size > 0 &&
      (open.has(`${type}/${key}`) || (versions !== undefined && open.has(`${type}/${key}@${version}`)));
    const made = new ListMemory(remembered.lists.get(type), isOpen);
    lists.set(type, made);
    return made;
  };
  return {
    accords,
    recall: (kind) => memoryOf(kind).recall,
    factOf: (kind, row) => memoryOf(kind).factOf(row),
    note: (kind, imprint, fact) => memoryOf(kind).note(imprint, fact),
    finish: (kind) => memoryOf(kind).finish(),
    isKept: (identity, row) => !declared.has(identity) || accords.get(identity)?.row === row,
    seen: () => {
      const whole = [...lists].filter(([, { isWhole }]) => isWhole);
      return whole.some(([, { isNew }]) => isNew) ? new Map(whole.map(([type, list]) => [type, list.seen])) : null;
    },
  };
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
  isNew = false;
  isWhole = false;

  constructor(before: ListFacts = NO_FACTS, isOpen: (fact: RowFact) => boolean) {
    this.#before = before;
    this.#isOpen = isOpen;
  }

  get recall(): Recall {
    const row = (imprint: Imprint): KnownRow | null => this.#row(imprint);
    // Pages pay from the second time on: a page of which nothing is known yet need not be known as a whole.
    if (this.#before.rows.size === 0) return { row };
    return { row, page: (imprint) => this.#page(imprint), sawPage: (imprint, page) => this.#sawPage(imprint, page) };
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
