import type { Kysely, Transaction } from "kysely";
import { type OperationName, operation } from "../../contract/operations.ts";
import { escapeText } from "../../log/escape.ts";
import { preparedQuery } from "../../store/prepared-query.ts";
import type { Principal } from "../auth/principal.ts";
import type { Context } from "../context.ts";
import type { Tables } from "./tables.ts";

/** An effect: who did what to which resource (`kind/key`, as `service/c1:ws1/api`). */
export type Effect = {
  readonly principal: Pick<Principal, "name">;
  readonly operation: OperationName;
  readonly resource: string;
};

const insert = preparedQuery((database: Kysely<Tables>, row: Tables["audit"]) =>
  database.insertInto("audit").values({
    id: row.id,
    at: row.at,
    principal: row.principal,
    operation: row.operation,
    resource: row.resource,
    key_hash: row.key_hash,
    fencing_number: row.fencing_number,
  }),
);

/** Writes the row of an effect; it belongs into the transaction of the effect itself. */
export async function recordEffect(
  transaction: Transaction<Tables>,
  { newId, now, marks }: Pick<Context, "newId" | "now" | "marks">,
  { principal, operation: name, resource }: Effect,
): Promise<void> {
  await insert(transaction, {
    id: newId(),
    at: new Date(now()).toISOString(),
    // Both are checked where they come in: here nothing can pass that was forgotten there.
    principal: oneLine(principal.name),
    operation: operation(name).number,
    resource: oneLine(resource),
    key_hash: marks?.keyHash ?? null,
    fencing_number: marks?.fencingNumber ?? null,
  });
}

// More than any name of ours has, with its kind and the place that it is in.
const LONGEST = 1024;

function oneLine(text: string): string {
  return escapeText(text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);
}
