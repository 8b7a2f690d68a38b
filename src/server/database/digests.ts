import { hash } from "node:crypto";
import { type ColumnType, type Insertable, type Kysely, sql, type Transaction } from "kysely";
import { preparedQuery } from "../../store/prepared-query.ts";
import type { Store } from "../../store/store.ts";
import type { Context } from "../context.ts";
import type { Tables } from "./tables.ts";

declare module "./tables.ts" {
  interface Tables {
    /**
     * One row for each identity, split behind its last slash. The marker is another number after each change, so the sum
     * of a range tells whether anything in it has changed, and no two writers of different resources change one row.
     */
    readonly digests: {
      readonly prefix: string;
      readonly name: string;
      readonly marker: number;
      /** The number of the transaction that changed it last, from a trigger; only PostgreSQL has it. */
      readonly changed_in: ColumnType<string | null, never, never>;
    };
  }
}

/** The identities with one prefix up to their last slash: how many, and the sum of their markers. */
export type MarkerSum = { readonly prefix: string; readonly count: number; readonly sum: bigint };

// The sum of eight million markers still fits into eight bytes.
const MARKER_BYTES = 5;

// Greater than every text that follows a prefix, by the bytes of UTF-8.
const END = "\u{10ffff}";

const save = preparedQuery((database: Kysely<Tables>, { prefix, name, marker }: Insertable<Tables["digests"]>) =>
  database
    .insertInto("digests")
    .values({ prefix, name, marker })
    .onConflict((conflicting) => conflicting.columns(["prefix", "name"]).doUpdateSet({ marker })),
);

// By the function that counts the commits, since each request has a store of its own.
const changes = new WeakMap<Store<Tables>["commits"], Map<string, number>>();

/**
 * The prefixes in which transactions of this process have changed something, each with how many commits there were before; of
 * a database that nobody else writes. The transaction may not have ended yet.
 */
export function changedPrefixes({ commits }: Store<Tables>): Map<string, number> {
  const found = changes.get(commits) ?? new Map<string, number>();
  changes.set(commits, found);
  return found;
}

/** Changes the digest of a manifest that was written, in the transaction of the write. */
export async function markChanged(
  transaction: Transaction<Tables>,
  identity: string,
  { newId, store }: Context,
): Promise<void> {
  const end = identity.lastIndexOf("/") + 1;
  const marker = hash("sha256", newId(), "buffer").readUIntBE(0, MARKER_BYTES);
  const prefix = identity.slice(0, end);
  if (!store.isShared) changedPrefixes(store).set(prefix, store.commits());
  await save(transaction, { prefix, name: identity.slice(end), marker });
}

/** The sums of all identities that begin with this text, in the order of their prefixes. */
export async function markerSums(database: Kysely<Tables>, beginning: string): Promise<readonly MarkerSum[]> {
  const end = beginning.lastIndexOf("/") + 1;
  const name = beginning.slice(end);
  const below = sums(database)
    .where("prefix", ">=", beginning)
    .where("prefix", "<", beginning + END);
  const beside = sums(database)
    .where("prefix", "=", beginning.slice(0, end))
    .where("name", ">=", name)
    .where("name", "<", name + END);
  const rows = [...(name === "" ? [] : await beside.execute()), ...(await below.execute())];
  return toSums(rows);
}

/** The sums of all identities with these prefixes. */
export async function sumsOf(database: Kysely<Tables>, prefixes: readonly string[]): Promise<readonly MarkerSum[]> {
  return toSums(await sums(database).where("prefix", "in", prefixes).execute());
}

function toSums(
  rows: readonly { readonly prefix: string; readonly count: string | number | bigint; readonly sum: string }[],
): readonly MarkerSum[] {
  return rows.map(({ prefix, count, sum }) => ({ prefix, count: Number(count), sum: BigInt(sum) }));
}

function sums(database: Kysely<Tables>) {
  return database
    .selectFrom("digests")
    .select(({ fn }) => ["prefix", fn.countAll().as("count"), sql<string>`CAST(SUM(marker) AS TEXT)`.as("sum")])
    .groupBy("prefix")
    .orderBy("prefix");
}
