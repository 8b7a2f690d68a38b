import { rowId } from "../client/list.ts";
import type { Reader } from "../client/reader.ts";
import type { Listed, Recall } from "../client/recall.ts";
import { type Kind, type ListReading, type LiveRow, readRow } from "../core/kind.ts";
import type { Live } from "../core/live.ts";
import { type Identity, splitIdentity, splitVersion } from "../core/manifest.ts";
import type { Recollection } from "./recollection.ts";

/** What the list of one kind shows. */
export type Survey = {
  readonly live: ReadonlyMap<Identity, Live>;
  /** The rows that were read. */
  readonly rows: readonly LiveRow[];
};

/** What surveying needs of its surroundings. */
export type Surveying = {
  readonly reader: Reader;
  /** What is recalled of earlier looks; null where everything has to be read. */
  readonly recollection: Recollection | null;
  readonly signal: AbortSignal;
};

/** A list to survey. */
export type Surveyed = {
  readonly kind: Kind;
  readonly list: ListReading;
  /** Narrows the list to (at least) what is asked for. */
  readonly narrow: { readonly [name: string]: string };
};

/** A row as its list shows it; of one that is known only that it is there. */
type Seen = { readonly key: string; readonly version?: number; readonly row: LiveRow | null; readonly imprint: string };

const READ_ALL: Recall = { row: () => null };

/** Reads a list, but for the rows that are known and need not be read, and tells what is live of the resources. */
export async function survey(what: Surveyed, identities: readonly Identity[], on: Surveying): Promise<Survey> {
  const { recollection } = on;
  if (recollection === null) return told(what.kind, identities, await readEvery(what, on), null);
  const seen = await recognise(what, recollection, recollection.recall(what.kind), on);
  const survey = told(what.kind, identities, seen, recollection);
  if (survey.live.size === identities.length) return survey;
  // What stands for a resource now was passed over as another's row: rare enough to read everything.
  return told(what.kind, identities, await recognise(what, recollection, READ_ALL, on), recollection);
}

async function readEvery({ list, narrow }: Surveyed, { reader, signal }: Surveying): Promise<readonly Seen[]> {
  const replies = await reader.list(list.operation, { query: { ...list.query, ...narrow } }, { signal });
  return replies.flatMap((reply) => {
    const row = readRow(list, reply);
    return row === null ? [] : [seenRow(row, "")];
  });
}

async function recognise(
  { kind, list, narrow }: Surveyed,
  recollection: Recollection,
  recall: Recall,
  { reader, signal }: Surveying,
): Promise<readonly Seen[]> {
  const where = { query: { ...list.query, ...narrow } };
  const listed = await reader.survey(list.operation, where, { signal, recall });
  const seen = listed.flatMap((one: Listed<unknown>): readonly Seen[] => {
    if (one.is === "known") {
      const { key, version } = recollection.factOf(kind, one.row);
      const { imprint } = one.row;
      return key === null ? [] : [{ key, ...(version === null ? {} : { version }), row: null, imprint }];
    }
    const row = readRow(list, one.row);
    const imprint = one.imprint ?? "";
    recollection.note(kind, imprint, { id: rowId(one.row), key: row?.key ?? null, version: row?.version ?? null });
    return row === null ? [] : [seenRow({ ...row, imprint }, imprint)];
  });
  recollection.finish(kind);
  return seen;
}

function seenRow(row: LiveRow, imprint: string): Seen {
  return { key: row.key, ...(row.version === undefined ? {} : { version: row.version }), row, imprint };
}

function told(
  kind: Kind,
  identities: readonly Identity[],
  seen: readonly Seen[],
  recollection: Recollection | null,
): Survey {
  const index = Map.groupBy(seen, ({ key }) => key);
  const live = identities.flatMap((identity) => {
    const found = liveOf(kind, identity, index, recollection);
    return found === null ? [] : [[identity, found] as const];
  });
  return { live: new Map(live), rows: seen.flatMap(({ row }) => row ?? []) };
}

function liveOf(
  kind: Kind,
  identity: Identity,
  index: ReadonlyMap<string, readonly Seen[]>,
  recollection: Recollection | null,
): Live | null {
  const { key } = splitIdentity(identity);
  if (kind.versions === undefined) return liveFrom(identity, index.get(key)?.[0], recollection);
  const { name, version } = splitVersion(key);
  const rows = (index.get(name) ?? []).toSorted((a, b) => (b.version ?? 0) - (a.version ?? 0));
  const seen = version === null ? rows[0] : rows.find((candidate) => candidate.version === version);
  const newest = rows[0]?.version;
  return seen === undefined && newest !== undefined
    ? { state: "absent", newest }
    : liveFrom(identity, seen, recollection);
}

// Null where the row would have to be read and was not.
function liveFrom(identity: Identity, seen: Seen | undefined, recollection: Recollection | null): Live | null {
  if (seen === undefined) return { state: "absent" };
  if (seen.row !== null) return { state: "present", row: seen.row };
  return recollection?.isKept(identity, seen.imprint) ? { state: "unread" } : null;
}
