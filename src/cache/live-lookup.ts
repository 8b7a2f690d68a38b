import { rowId } from "../client/list.ts";
import { type Imprint, KnownPage, KnownRow, type PageFact, type Recall } from "../client/recall.ts";
import type { JsonObject } from "../contract/json.ts";
import type { Shape } from "../contract/shape.ts";
import { isFastEqual } from "../core/decide.ts";
import { type Kind, type ListReading, type LiveRow, readRow } from "../core/kind.ts";
import type { Identity, Manifest } from "../core/manifest.ts";
import type { RecordedHead } from "../core/recorded.ts";
import type { Ledger } from "../state/ledger.ts";
import { contentText } from "../state/receipt-digest.ts";
import type { KnownLive, ListFacts, SyncRecord } from "./in-sync.ts";

/** What a run knows of earlier ones while it reads live, and what it sees on the way. */
export type LiveLookup = {
  /** What is known of the list of a kind. */
  readonly recall: (kind: Kind) => Recall;
  /** Takes note of a list that was read to its end and found on known pages; tells whether it is all as it was. */
  readonly notePages: (kind: Kind, pages: readonly PageFact[]) => boolean;
  /** Takes note of a list that was read to its end, row by row. */
  readonly note: (kind: Kind, list: ListFacts) => void;
  /** Whether what is declared or recorded was not found in sync, as far as manifest and receipt go. */
  readonly isOpen: (identity: Identity) => boolean;
  /** Whether a resource need not be looked at, since live shows the row with which its manifest was in sync. */
  readonly isKept: (identity: Identity, row: Imprint) => boolean;
  /** What was found in sync earlier, and still is as far as manifest and receipt go. */
  readonly recordOf: (identity: Identity) => SyncRecord | undefined;
  /** What was found in sync while rows were read. */
  readonly found: ReadonlyMap<Identity, SyncRecord>;
  /** Every list that was read to its end and is not as it was, by kind. */
  readonly news: ReadonlyMap<string, ListFacts>;
  /** Whether the list of a kind was read to its end. */
  readonly isRead: (type: string) => boolean;
};

/** What being in sync rests on. */
export type Standing = {
  readonly manifests: readonly Manifest[];
  readonly recorded: ReadonlyMap<Identity, RecordedHead>;
  /** Whether what is in sync must be recorded too. */
  readonly records: boolean;
  readonly shapeOf: (type: string) => Shape;
  readonly ledger: Pick<Ledger, "digest">;
};

/** Looks up what is known, as far as manifests and receipts are what they were. */
export function lookUpLive({ inSync, lists }: KnownLive, standing: Standing): LiveLookup {
  const { manifests, records } = standing;
  const declared = once(() => new Map(manifests.map((manifest) => [manifest.identity, manifest])));
  const open = openOf(inSync, standing, declared);
  const found = new Map<Identity, SyncRecord>();
  const news = new Map<string, ListFacts>();
  const read = new Set<string>();
  const isOpen = (identity: Identity): boolean => open.has(identity);
  const recordOf = (identity: Identity): SyncRecord | undefined =>
    !isOpen(identity) && declared().has(identity) ? inSync.get(identity) : undefined;
  const recallers = new Map<string, Recall>();
  const recallerOf = (kind: Kind): Recall => {
    const recall = recallOf(kind, lists.get(kind.type), open);
    return records ? recall : { ...recall, settle: judgeOf(kind, standing, declared, found) };
  };
  return {
    found,
    news,
    isOpen,
    recordOf,
    recall: (kind) => {
      const recall = recallers.get(kind.type) ?? recallerOf(kind);
      recallers.set(kind.type, recall);
      return recall;
    },
    isRead: (type) => read.has(type),
    notePages: ({ type }, pages) => {
      const isSame = samePages(lists.get(type)?.pages ?? [], pages);
      if (isSame) read.add(type);
      return isSame;
    },
    note: ({ type }, list) => {
      read.add(type);
      if (!sameList(lists.get(type), list)) news.set(type, list);
      else news.delete(type);
    },
    isKept: (identity, row) =>
      !declared().has(identity) || recordOf(identity)?.row === row || found.get(identity)?.row === row,
  };
}

function once<Value extends object>(make: () => Value): () => Value {
  let made: Value | null = null;
  return () => {
    made ??= make();
    return made;
  };
}

/** What is declared or recorded and was not found in sync, or has moved since: its rows have to be read. */
function openOf(
  inSync: KnownLive["inSync"],
  { manifests, recorded, records }: Standing,
  declared: () => ReadonlyMap<Identity, Manifest>,
): ReadonlySet<Identity> {
  const open = new Set<Identity>();
  let receipts = 0;
  for (const { identity, digest } of manifests) {
    const head = recorded.get(identity);
    const receipt = head?.mark ?? null;
    if (head !== undefined) receipts += 1;
    const isRecorded = !records || receipt !== null;
    if (!isRecorded || digest === undefined || !inSync.hold(identity, { manifest: digest, receipt })) {
      open.add(identity);
    }
  }
  // Mostly nothing is recorded that is not declared.
  if (receipts === recorded.size) return open;
  for (const identity of recorded.keys()) if (!declared().has(identity)) open.add(identity);
  return open;
}

/** What a row that was just read tells of itself, where it is surely what its manifest says, and its receipt. */
type Judge = NonNullable<Recall["settle"]>;

// Most of live is as it should be: what is seen to be so at once need not be held until everything is decided.
function judgeOf(
  kind: Kind,
  standing: Standing,
  declared: () => ReadonlyMap<Identity, Manifest>,
  found: Map<Identity, SyncRecord>,
): Judge {
  const { list, type, versions } = kind;
  return (row, imprint) => {
    const live = list === undefined ? null : rowOf(list, row);
    if (live === null) return null;
    const { key, version = null } = live;
    // Which row a manifest without a number stands for only the whole list tells.
    const identity = versions === undefined ? `${type}/${key}` : `${type}/${key}@${version}`;
    const manifest = declared().get(identity);
    const digest = manifest?.digest;
    if (manifest === undefined || digest === undefined) return null;
    const receipt = standing.recorded.get(identity);
    if (!isInSync(kind, manifest, live, receipt, standing)) return null;
    found.set(identity, { manifest: digest, row: imprint, receipt: receipt?.mark ?? null });
    return new KnownRow(imprint, { id: rowId(row), key, version });
  };
}

// A receipt that says exactly what is declared and live is recognised without being opened.
function isInSync(
  kind: Kind,
  { value }: Manifest,
  { manifest: live }: LiveRow,
  receipt: RecordedHead | undefined,
  { shapeOf, ledger }: Standing,
): boolean {
  if (receipt === undefined) return isFastEqual(kind, shapeOf(kind.type), value, live);
  const { mark, digest } = receipt;
  return (
    mark !== undefined && digest !== undefined && digest === ledger.digest(contentText({ written: value, echo: live }))
  );
}

// A row that cannot be read is for those to refuse who read them all.
function rowOf(list: ListReading, row: JsonObject): LiveRow | null {
  try {
    return readRow(list, row);
  } catch {
    return null;
  }
}

/** What is known of a list, but for the rows of what is open: they are looked at, whether they have moved or not. */
function recallOf({ type, versions }: Kind, before: ListFacts | undefined, open: ReadonlySet<Identity>): Recall {
  if (before === undefined) return { row: () => null, page: () => null };
  const isOpen = ({ key, version }: KnownRow): boolean =>
    open.has(`${type}/${key}`) || (versions !== undefined && open.has(`${type}/${key}@${version}`));
  const anyOpen = open.values().some((identity) => identity.startsWith(`${type}/`));
  const rows = once(() => new Map(before.rows.map((row) => [row.imprint, row])));
  const pages = new Map<Imprint, KnownPage>();
  let start = 0;
  for (const page of before.pages) {
    const [from, to] = [start, start + page.size];
    pages.set(page.imprint, new KnownPage(page, () => before.rows.slice(from, to)));
    start = to;
  }
  return {
    row: (imprint) => {
      const row = rows().get(imprint);
      return row === undefined || (anyOpen && isOpen(row)) ? null : row;
    },
    page: (imprint) => {
      const page = pages.get(imprint);
      return page === undefined || (anyOpen && page.rows.some(isOpen)) ? null : page;
    },
  };
}

function sameList(before: ListFacts | undefined, { rows, pages }: ListFacts): boolean {
  if (before === undefined || rows.length !== before.rows.length) return false;
  return pages.length > 0
    ? samePages(before.pages, pages)
    : rows.every(({ imprint }, at) => imprint === before.rows[at]?.imprint);
}

function samePages(before: readonly PageFact[], pages: readonly PageFact[]): boolean {
  return before.length === pages.length && pages.every(({ imprint }, at) => imprint === before[at]?.imprint);
}
