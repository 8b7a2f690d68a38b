import type { Transaction } from "kysely";
import { type OperationName, operation } from "../../contract/operations.ts";
import type { Context } from "../context.ts";
import type { Principal } from "../principal.ts";
import type { Tables } from "./tables.ts";

/** An effect: who did what to which resource (`kind/key`, as `service/c1:ws1/api`). */
export type Effect = {
  readonly principal: Pick<Principal, "name">;
  readonly operation: OperationName;
  readonly resource: string;
};

/** Writes the row of an effect; it belongs into the transaction of the effect itself. */
export async function recordEffect(
  transaction: Transaction<Tables>,
  { newId, now, marks }: Pick<Context, "newId" | "now" | "marks">,
  { principal, operation: name, resource }: Effect,
): Promise<void> {
  await transaction
    .insertInto("audit")
    .values({
      id: newId(),
      at: new Date(now()).toISOString(),
      principal: principal.name,
      operation: operation(name).number,
      resource,
      key_hash: marks?.keyHash ?? null,
      fencing_number: marks?.fencingNumber ?? null,
    })
    .execute();
}
