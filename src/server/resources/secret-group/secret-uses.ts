import type { Kysely, Transaction } from "kysely";
import type { ResourceReference } from "../../../model/references.ts";
import { chunks } from "../../../store/prepared-query.ts";
import type { Tables } from "../../database/tables.ts";

/** Records which secrets a new deployment refers to, among its references. */
export async function recordSecretUses(
  transaction: Transaction<Tables>,
  { id }: { readonly id: string },
  references: readonly ResourceReference[],
): Promise<void> {
  const fqns = new Set(references.filter(({ kind }) => kind === "secret").map(({ key }) => key));
  const rows = [...fqns].map((fqn) => ({ deployment_id: id, secret_fqn: fqn }));
  for (const part of chunks(rows)) await transaction.insertInto("secret_uses").values(part).execute();
}

/** The number of applications whose active deployment uses each of these secrets. */
export async function countActiveUses(
  database: Kysely<Tables>,
  fqns: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const part of chunks(fqns)) {
    const rows = await database
      .selectFrom("secret_uses as u")
      .innerJoin("applications as a", "a.active_deployment_id", "u.deployment_id")
      .select(({ fn }) => ["u.secret_fqn as fqn", fn.countAll<number>().as("uses")])
      .where("u.secret_fqn", "in", part)
      .groupBy("u.secret_fqn")
      .execute();
    for (const { fqn, uses } of rows) counts.set(fqn, Number(uses));
  }
  return counts;
}
