import { type Kysely, sql, type Transaction } from "kysely";
import type { LeaseResource } from "../../../contract/resources.ts";
import type { Tables } from "../../database/tables.ts";
import { coveringScopes, overlaps, type ScopePath, scopeName, scopePath } from "./scope.ts";

declare module "../../database/tables.ts" {
  interface Tables {
    /** `issued` is the last fencing number that was issued, `changes` counts the changes of leases. */
    readonly lease_numbers: { readonly name: string; readonly number: number };
    /** Who may write in a scope, and until when (epoch milliseconds); the holder is empty once it was given back. */
    readonly leases: {
      readonly scope: string;
      readonly holder: string;
      readonly principal: string;
      readonly number: number;
      readonly expires_at: number;
    };
  }
}

/** A lease as it is kept, its moments in epoch milliseconds. */
export type LeaseRow = Tables["leases"];

/**
 * Keeps other changes of leases out until this transaction is over: whether one may be taken depends on rows that are
 * not its own.
 */
export async function lockLeases(transaction: Transaction<Tables>): Promise<void> {
  await transaction
    .updateTable("lease_numbers")
    .set(({ eb }) => ({ number: eb("number", "+", 1) }))
    .where("name", "=", "changes")
    .execute();
}

/** The next fencing number: there is one sequence, whatever the scope. */
export async function issueNumber(transaction: Transaction<Tables>): Promise<number> {
  const { number } = await transaction
    .updateTable("lease_numbers")
    .set(({ eb }) => ({ number: eb("number", "+", 1) }))
    .where("name", "=", "issued")
    .returning("number")
    .executeTakeFirstOrThrow();
  return Number(number);
}

/** The leases, current or over, of a scope, of those above it and of those in it. */
export async function overlappingLeases(
  transaction: Transaction<Tables>,
  path: ScopePath,
): Promise<readonly LeaseRow[]> {
  const inside = `${scopeName(path)}:`;
  const all = transaction.selectFrom("leases").selectAll();
  const near = all.where(({ or, eb }) =>
    or([eb("scope", "in", coveringScopes(path)), eb(sql<string>`substr(scope, 1, ${inside.length})`, "=", inside)]),
  );
  const rows = await (path.length === 0 ? all : near).execute();
  return rows
    .map((row) => ({ ...row, number: Number(row.number), expires_at: Number(row.expires_at) }))
    .filter(({ scope }) => overlaps(path, scopePath(scope)));
}

/** Keeps a lease in the place of the scope's former one. */
export async function saveLease(transaction: Transaction<Tables>, { scope, ...rest }: LeaseRow): Promise<void> {
  await transaction
    .insertInto("leases")
    .values({ scope, ...rest })
    .onConflict((conflicting) => conflicting.column("scope").doUpdateSet(rest))
    .execute();
}

const DAY = 86_400_000;

/** Forgets the leases that ended a day ago: a number of theirs counts as little as one that was never issued. */
export async function deleteOldLeases(database: Kysely<Tables>, now: number): Promise<void> {
  await database
    .deleteFrom("leases")
    .where("expires_at", "<=", now - DAY)
    .execute();
}

/** A lease as it is answered, its scope as the caller writes it. */
export function toLeaseResource({ holder, number, expires_at: expiresAt }: LeaseRow, scope: string): LeaseResource {
  return { scope, holder, fencingToken: number, expiresAt: new Date(expiresAt).toISOString() };
}
