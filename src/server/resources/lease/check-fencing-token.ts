import type { Kysely, Transaction } from "kysely";
import { preparedQuery } from "../../../store/prepared-query.ts";
import type { Tables } from "../../database/tables.ts";
import type { FencingToken } from "../../http/writes/write-headers.ts";
import { coveringScopes, type ScopePath, scopeName, scopePath } from "./scope.ts";

/** At most three scopes that cover the writer's scope, and three that cover the written one. */
type Scopes = { readonly [slot in "a" | "b" | "c" | "d" | "e" | "f"]: string };

const issued = preparedQuery((database: Kysely<Tables>, { a, b, c, d, e, f }: Scopes) =>
  database.selectFrom("leases").select(["scope", "number"]).where("scope", "in", [a, b, c, d, e, f]),
);

const holdIssued = preparedQuery((database: Kysely<Tables>, { name }: { readonly name: string }) =>
  database.selectFrom("lease_numbers").select("number").where("name", "=", name).forShare(),
);

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
