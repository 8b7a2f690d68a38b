import type { Kysely, Transaction } from "kysely";
import { preparedQuery } from "../../../store/prepared-query.ts";
import type { Tables } from "../../database/tables.ts";
import type { FencingToken } from "../../http/write-headers.ts";
import { coveringScopes, type ScopePath, scopeName, scopePath } from "./scope.ts";

/** As many as cover a workspace, for what the writer names and for what it writes. */
type Scopes = { readonly [slot in "a" | "b" | "c" | "d" | "e" | "f"]: string };

const issued = preparedQuery((database: Kysely<Tables>, { a, b, c, d, e, f }: Scopes) =>
  database.selectFrom("leases").select(["scope", "number"]).where("scope", "in", [a, b, c, d, e, f]),
);

const holdIssued = preparedQuery((database: Kysely<Tables>, { name }: { readonly name: string }) =>
  database.selectFrom("lease_numbers").select("number").where("name", "=", name).forShare(),
);

/**
 * What is wrong with the number of a write: `unknown` when it was not issued for its scope, `stale` when a newer one was
 * issued for that or for any scope that covers what is written; null when it counts. Where others write the database
 * too, none is issued in between.
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
