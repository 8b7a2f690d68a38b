import { type Kysely, sql, type Transaction } from "kysely";
import type { LeaseResource } from "../../../contract/generated/resources.ts";
import { preparedQuery } from "../../../store/prepared-query.ts";
import type { Context } from "../../context.ts";
import type { Tables } from "../../database/tables.ts";
import type { FencingToken } from "../../http/writes/write-headers.ts";
import { coveringScopes, overlaps, type ScopePath, scopeName, scopePath } from "./scope.ts";

declare module "../../database/tables.ts" {
  interface Tables {
    /** `issued` is the last fencing number that was issued, `changes` counts the changes of leases. */
    readonly lease_numbers: { readonly name: string; readonly number: number };
    /** Who may write in a scope, and until when (epoch milliseconds); the holder is empty after a release. */
    readonly leases: {
      readonly scope: string;
      readonly holder: string;
      readonly principal: string;
      readonly number: number;
      readonly expires_at: number;
    };
  }
}

/** A stored lease. */
export type LeaseRow = Tables["leases"];

const issued = preparedQuery(
  (database: Kysely<Tables>, { a, b, c, d, e, f }: { readonly [slot in "a" | "b" | "c" | "d" | "e" | "f"]: string }) =>
    database.selectFrom("leases").select(["scope", "number"]).where("scope", "in", [a, b, c, d, e, f]),
);

const holdIssued = preparedQuery((database: Kysely<Tables>, { name }: { readonly name: string }) =>
  database.selectFrom("lease_numbers").select("number").where("name", "=", name).forShare(),
);

/**
 * Excludes other changes of leases until this transaction ends: whether a lease may be taken depends on other leases.
 */
export async function lockLeases(transaction: Transaction<Tables>): Promise<void> {
  await transaction
    .updateTable("lease_numbers")
    .set(({ eb }) => ({ number: eb("number", "+", 1) }))
    .where("name", "=", "changes")
    .execute();
}

/** The next fencing number, from one sequence for all scopes. */
export async function issueNumber(transaction: Transaction<Tables>): Promise<number> {
  const { number } = await transaction
    .updateTable("lease_numbers")
    .set(({ eb }) => ({ number: eb("number", "+", 1) }))
    .where("name", "=", "issued")
    .returning("number")
    .executeTakeFirstOrThrow();
  return Number(number);
}

/** The leases of a scope, of scopes above it and below it, expired ones included. */
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

/** Inserts or replaces the lease of a scope. */
export async function saveLease(transaction: Transaction<Tables>, { scope, ...rest }: LeaseRow): Promise<void> {
  await transaction
    .insertInto("leases")
    .values({ scope, ...rest })
    .onConflict((conflicting) => conflicting.column("scope").doUpdateSet(rest))
    .execute();
}

const DAY = 86_400_000;

/** Deletes leases that expired a day ago; their numbers are then refused like numbers that were never issued. */
export async function deleteOldLeases(database: Kysely<Tables>, now: number): Promise<void> {
  await database
    .deleteFrom("leases")
    .where("expires_at", "<=", now - DAY)
    .execute();
}

/** A lease in a reply, with the scope as the caller wrote it. */
export function toLeaseResource({ holder, number, expires_at: expiresAt }: LeaseRow, scope: string): LeaseResource {
  return { scope, holder, fencingToken: number, expiresAt: new Date(expiresAt).toISOString() };
}

/**
 * Checks the fencing token of a write: `unknown` when it was not issued for its scope, `stale` when a newer one was
 * issued for that scope or one that covers the write; null when it is valid. In a shared database a row lock prevents
 * that another one is issued before the commit.
 */
export async function checkFencingToken(
  transaction: Transaction<Tables>,
  { number, scope }: FencingToken,
  { written, isShared }: { readonly written: ScopePath; readonly isShared: boolean },
): Promise<"unknown" | "stale" | null> {
  if (isShared) await holdIssued(transaction, { name: "issued" });
  const own = scopePath(scope);
  const [a = "", b = a, c = a, d = a, e = a, f = a] = [...coveringScopes(own), ...coveringScopes(written)];
  const leases = await issued(transaction, { a, b, c, d, e, f });
  const last = leases.find((lease) => lease.scope === scopeName(own));
  if (last === undefined || number > Number(last.number)) return "unknown";
  return leases.some((lease) => Number(lease.number) > number) ? "stale" : null;
}

/**
 * Cuts leases that end later than one taken now could: they were taken before the clock was set back, or with a longer
 * maximum, and would exclude others for that time.
 */
export async function cutLongLeases({ store, clock, maxLeaseSeconds, log }: Context): Promise<void> {
  const maximum = maxLeaseSeconds * 1000;
  const long = await store.read
    .selectFrom("leases")
    .select("scope")
    .where("expires_at", ">", clock.now() + maximum)
    .limit(1)
    .execute();
  if (long.length === 0) return;
  const cut = await store.write(async (transaction) => {
    await lockLeases(transaction);
    const end = (await store.time(transaction)) + maximum;
    const rows = await transaction
      .updateTable("leases")
      .set({ expires_at: end })
      .where("expires_at", ">", end)
      .returning(["scope", "holder"])
      .execute();
    return rows.map((row) => ({ ...row, end: new Date(end).toISOString() }));
  });
  for (const lease of cut)
    log.warn({ event: "lease-cut", ...lease }, "a lease ended later than the maximum allows and was cut");
}
