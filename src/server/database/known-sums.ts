import { type Kysely, sql } from "kysely";
import type { Store } from "../../store/store.ts";
import { changedPrefixes, type MarkerSum, markerSums, sumsOf } from "./digests.ts";
import type { Tables } from "./tables.ts";

/** The sums of everything in a shared database at one moment, and how to find what has changed since. */
export type SharedSums = {
  /** Another one once the rows may be those of a backup, or the numbers of transactions begin again. */
  readonly table: string;
  /** The oldest transaction that may have changed something since. */
  readonly since: string;
  readonly sums: readonly MarkerSum[];
};

/** What is known of a database. */
type Known = { shared?: SharedSums; own?: readonly MarkerSum[] };

// By the function that counts the commits, since each request has a store of its own.
const known = new WeakMap<Store<Tables>["commits"], Known>();

// Where more have changed, all are summed.
const MOST_CHANGED = 20;

/**
 * The sums of everything, in the order of their prefixes. Each pass of each target asks for them, and to sum a million
 * takes half a second, so only what has changed is summed again.
 */
export async function sumsOfAll(store: Store<Tables>): Promise<readonly MarkerSum[]> {
  const found = known.get(store.commits) ?? {};
  known.set(store.commits, found);
  if (!store.isShared) return ownSums(store, found);
  const read = await sharedSums(store.read, found.shared);
  found.shared = read;
  return read.sums;
}

// Nobody else writes a file.
async function ownSums(store: Store<Tables>, found: Known): Promise<readonly MarkerSum[]> {
  const { own } = found;
  const changed = changedPrefixes(store);
  const commits = store.commits();
  const prefixes = [...changed.keys()];
  if (own !== undefined && prefixes.length === 0) return own;
  const sums =
    own === undefined || prefixes.length > MOST_CHANGED
      ? await markerSums(store.read, "")
      : merged(own, await sumsOf(store.read, prefixes));
  // Another request may have brought them further up to date.
  if (found.own !== own) return sums;
  found.own = sums;
  // Those of a transaction that has not ended are summed again.
  for (const prefix of prefixes) if ((changed.get(prefix) ?? commits) < commits) changed.delete(prefix);
  return sums;
}

/** The sums of everything in a shared database; of those that are known, only the ones that have changed are read again. */
export async function sharedSums(database: Kysely<Tables>, before: SharedSums | undefined): Promise<SharedSums> {
  // Before all else: what is committed after this is looked at again the next time.
  const { rows } = await sql<{ readonly table: string; readonly since: string }>`
    SELECT concat(pg_postmaster_start_time(), ' ', pg_relation_filenode('digests')) AS "table",
      pg_snapshot_xmin(pg_current_snapshot())::text AS since`.execute(database);
  const [now] = rows;
  if (now === undefined) throw new TypeError("the database does not tell its moment");
  const changed = before?.table === now.table ? await changedSince(database, before.since) : null;
  if (before === undefined || changed === null) return { ...now, sums: await markerSums(database, "") };
  if (changed.length === 0) return { ...now, sums: before.sums };
  return { ...now, sums: merged(before.sums, await sumsOf(database, changed)) };
}

// The prefixes in which these transactions or later ones have changed something; null for too many.
async function changedSince(database: Kysely<Tables>, since: string): Promise<readonly string[] | null> {
  const rows = await database
    .selectFrom("digests")
    .select("prefix")
    .distinct()
    .where("changed_in", ">=", since)
    .limit(MOST_CHANGED + 1)
    .execute();
  return rows.length > MOST_CHANGED ? null : rows.map(({ prefix }) => prefix);
}

function merged(before: readonly MarkerSum[], read: readonly MarkerSum[]): readonly MarkerSum[] {
  const sums = new Map([...before, ...read].map((sum) => [sum.prefix, sum]));
  return [...sums.values()].toSorted((one, other) => (one.prefix < other.prefix ? -1 : 1));
}
