import type { ClientError } from "../../client/client-error.ts";
import { forEachConcurrently } from "../../client/for-each-concurrently.ts";
import type { UnreadKind } from "../../contract/generated/output.ts";
import { type ListOperation, operation, type Replies } from "../../contract/operations.ts";
import { type Kind, type LiveRow, readRow } from "../../core/kind.ts";
import { type Identity, splitIdentity } from "../../core/manifest.ts";
import { kinds as allKinds, kindOf } from "../../kinds/index.ts";
import { referencesWithoutSecrets } from "../../model/references.ts";
import type { Run } from "../run.ts";
import type { ReadAccess } from "../session.ts";
import { type ReaderAccess, readById } from "./read-by-id.ts";
import { isResourceError } from "./read-live.ts";

/** Everything of some kinds that is live, as far as it could be read. */
export type Everything = {
  /** The rows of each kind, every version of a name included; no entry where nothing of the kind could be read. */
  readonly rows: ReadonlyMap<string, readonly LiveRow[]>;
  /** The kinds of which there may be more, each with the reason. */
  readonly unread: readonly UnreadKind[];
};

/** The values that everything is read with. */
export type EverythingReading = {
  readonly server: Pick<ReadAccess, "reader" | "capabilities">;
  /** Resources that may exist, with the id in the ledger: they are read one by one where their kind has no list. */
  readonly mayExist: ReadonlyMap<Identity, string | null>;
  readonly concurrency: number;
  readonly run: Pick<Run, "emit" | "stopping">;
};

/**
 * Reads everything of some kinds that is live: by their lists, and where a control plane has none, what it has been asked
 * for and what other resources name.
 */
export async function observeEverything(
  kinds: readonly Kind[],
  { server, mayExist, concurrency, run }: EverythingReading,
): Promise<Everything> {
  const { reader, capabilities } = server;
  const hasList = ({ list }: Kind): boolean => list !== undefined && capabilities.has(list.operation);
  const found: Draft = { rows: new Map(), unread: new Map() };
  const read = async (wanted: readonly Kind[]): Promise<void> => {
    const lists = Map.groupBy(wanted.filter(hasList), ({ list }) => list?.operation);
    await Promise.all(
      lists.values().map((sharing) => readKinds(sharing, { reader, signal: run.stopping }, { found, run })),
    );
  };
  await read(kinds);
  const unlisted = kinds.filter((kind) => !hasList(kind));
  if (unlisted.length === 0) return inOrder(found, kinds);
  // The names of what has no list are in other resources, of whatever kind.
  if (unlisted.some(({ single }) => single?.guessId !== undefined))
    await read(allKinds.filter((kind) => !kinds.includes(kind)));
  const named = namesIn(found.rows);
  for (const kind of unlisted) {
    const wanted = [...mayExist, ...named].filter(([identity]) => splitIdentity(identity).kind === kind.type);
    const places = new Map(wanted.toReversed());
    const rows = await readNamed(kind, places, { reader, signal: run.stopping, concurrency });
    if (rows.length > 0) found.rows.set(kind.type, rows);
    found.unread.set(kind.type, { why: noListOf(kind, rows.length), isFailure: false });
  }
  return inOrder(found, kinds);
}

type Draft = {
  readonly rows: Map<string, readonly LiveRow[]>;
  readonly unread: Map<string, Omit<UnreadKind, "kind">>;
};

function inOrder({ rows, unread }: Draft, kinds: readonly Kind[]): Everything {
  return {
    rows: new Map(kinds.flatMap(({ type }) => (rows.has(type) ? [[type, rows.get(type) ?? []] as const] : []))),
    unread: [
      ...new Set([...kinds.map(({ type }) => type), ...[...unread.keys()].filter((type) => !kindOf(type))]),
    ].flatMap((kind) => {
      const why = unread.get(kind);
      return why === undefined ? [] : [{ kind, ...why }];
    }),
  };
}

// Kinds that share a list are read with one: each row is of at most one of them.
async function readKinds(
  kinds: readonly Kind[],
  access: ReaderAccess,
  { found, run }: { readonly found: Draft; readonly run: Pick<Run, "emit"> },
): Promise<void> {
  const [first] = kinds;
  if (first?.list === undefined) return;
  const name = first.list.operation;
  const query = kinds.length === 1 ? first.list.query : undefined;
  const what = kinds.length === 1 ? first.type : (first.sharesNames ?? first.type);
  const listed = await readWholeList(name, query ?? {}, access, (rows) =>
    run.emit({ what: "listing", kind: what, rows }),
  );
  for (const kind of kinds) {
    if (listed.state === "read") addRows(kind, listed.rows, found);
    else found.unread.set(kind.type, { why: whyUnread(name, listed), isFailure: listed.state === "failed" });
  }
  const { anyKind } = first.list;
  if (listed.state !== "read" || anyKind === undefined) return;
  for (const row of listed.rows) {
    const { type } = anyKind(row as never);
    if (kindOf(type) === undefined) found.unread.set(type, { why: "this type is not managed", isFailure: false });
  }
}

function addRows(kind: Kind, replies: readonly unknown[], { rows, unread }: Draft): void {
  const { type, list } = kind;
  if (list === undefined) return;
  try {
    rows.set(
      type,
      replies.flatMap((reply) => readRow(list, reply) ?? []),
    );
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    unread.set(type, { why: error.message, isFailure: true });
  }
}

/** All rows of a list, or why it could not be read. */
export type WholeList<Row> = { readonly state: "read"; readonly rows: readonly Row[] } | UnreadList;

/** Why a list could not be read. */
export type UnreadList =
  | { readonly state: "no-list" | "forbidden" }
  | { readonly state: "failed"; readonly error: ClientError };

const PROGRESS_ROWS = 1000;

/** Reads a list whole; `onRows` hears how many rows there are so far. Fails where the whole control plane does. */
export async function readWholeList<Name extends ListOperation>(
  name: Name,
  query: { readonly [parameter: string]: string },
  { reader, signal }: ReaderAccess,
  onRows: (rows: number) => void = () => undefined,
): Promise<WholeList<Replies[Name]>> {
  let count = 0;
  const condense = (row: unknown): unknown => {
    count += 1;
    if (count % PROGRESS_ROWS === 0) onRows(count);
    return row;
  };
  try {
    return { state: "read", rows: await reader.list(name, { query }, { signal, condense }) };
  } catch (error) {
    if (!isResourceError(error)) throw error;
    if (error.reason === "route-missing") return { state: "no-list" };
    return error.reason === "forbidden" ? { state: "forbidden" } : { state: "failed", error };
  }
}

/** Why a list could not be read, in words. */
export function whyUnread(name: ListOperation, list: UnreadList): string {
  const { path } = operation(name);
  switch (list.state) {
    case "no-list":
      return `this control plane has no list of them (${path})`;
    case "forbidden":
      return `the token may not list them (${path})`;
    case "failed":
      return `${list.error.message} (${path})`;
  }
}

function noListOf({ list }: Kind, read: number): string {
  const why = list === undefined ? "no control plane lists them" : whyUnread(list.operation, { state: "no-list" });
  return read === 0 ? why : `${why}; those were read that other resources name, or that are recorded`;
}

/** The resources that the read ones refer to; their ids are not known. */
function namesIn(rows: Draft["rows"]): ReadonlyMap<Identity, null> {
  const named = new Map<Identity, null>();
  for (const { manifest } of [...rows.values()].flat()) {
    for (const { kind, key } of referencesWithoutSecrets(manifest, null)) named.set(`${kind}/${key}`, null);
  }
  return named;
}

async function readNamed(
  { single }: Kind,
  places: ReadonlyMap<Identity, string | null>,
  { reader, signal, concurrency }: ReaderAccess & { readonly concurrency: number },
): Promise<readonly LiveRow[]> {
  if (single === undefined) return [];
  const found = new Map<string, LiveRow>();
  await forEachConcurrently([...places], concurrency, async ([identity, recorded]) => {
    const { key } = splitIdentity(identity);
    for (const id of new Set([recorded, single.guessId?.(key) ?? null])) {
      const row = id === null ? null : await readOrNull(single, id, { reader, signal });
      if (row !== null && row.key === key) found.set(key, row);
    }
  });
  return [...found.keys()].toSorted().flatMap((key) => found.get(key) ?? []);
}

async function readOrNull(
  single: NonNullable<Kind["single"]>,
  id: string,
  access: ReaderAccess,
): Promise<LiveRow | null> {
  try {
    const row = await readById(single, id, access);
    return row === "in-sync" ? null : row;
  } catch (error) {
    if (error instanceof TypeError || isResourceError(error)) return null;
    throw error;
  }
}
