// src/server/database: the tables of the control plane. See docs/control-plane.md#postgresql.

import type { Kysely, Transaction } from "kysely";
import { type OperationName, operation } from "../../contract/operations.ts";
import { escapeUnprintable } from "../../model/unprintable.ts";
import { preparedQuery } from "../../store/prepared-query.ts";
import type { Context } from "../context.ts";
import { markChanged } from "./digests.ts";
import type { Tables } from "./tables.ts";

/** An effect to be audited: who did what to which resource (`kind/key`, as `service/c1:ws1/api`). */
export type Effect = {
  readonly principal: { readonly name: string };
  /** The operation of the interface, or a command that changes the database itself. */
  readonly operation: OperationName | "admin-token";
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

/** Writes the audit row of an effect, in the transaction of the effect. */
export async function recordEffect(
  transaction: Transaction<Tables>,
  { newId, clock, auditMarks }: Context,
  { principal, operation: name, resource }: Effect,
): Promise<void> {
  await insert(transaction, {
    id: newId(),
    at: new Date(clock.now()).toISOString(),
    // Both were validated before; escaping is a second safeguard for the log.
    principal: oneLine(principal.name),
    operation: name === "admin-token" ? name : operation(name).number,
    resource: oneLine(resource),
    key_hash: auditMarks?.keyHash ?? null,
    fencing_number: auditMarks?.fencingNumber ?? null,
  });
}

/** The same for the write of a manifest, whose digest changes with it. */
export async function recordChange(transaction: Transaction<Tables>, context: Context, effect: Effect): Promise<void> {
  await recordEffect(transaction, context, effect);
  await markChanged(transaction, effect.resource, context);
}

// Longer than any valid identity.
const MAX_LENGTH = 1024;

function oneLine(text: string): string {
  return escapeUnprintable(text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text);
}
