// src/server/database: the tables of the control plane. See docs/control-plane.md#postgresql.

import type { Kysely, Transaction } from "kysely";
import { type OperationName, operation } from "../../contract/operations.ts";
import { STAGED_FILES } from "../../contract/staged-files.ts";
import { escapeUnprintable } from "../../model/unprintable.ts";
import { preparedQuery } from "../../store/prepared-query.ts";
import type { ApplicationVersion } from "../audit/application-version.ts";
import type { LinkedRow } from "../audit/chain.ts";
import type { NewAuditRow } from "../audit/entry.ts";
import { type ChangedManifest, fieldChanges } from "../audit/field-changes.ts";
import type { Context } from "../context.ts";
import { markChanged } from "./digests.ts";
import type { Tables } from "./tables.ts";

/** An effect to be audited: who did what to which resource (`kind/key`, as `service/c1:ws1/api`). */
export type Effect = {
  readonly principal: { readonly name: string };
  /** The operation of the interface, or a command that changes the database itself. */
  readonly operation: OperationName | "putStagedFile" | "admin-token";
  readonly resource: string;
  /** A manifest and the one before. */
  readonly changed?: ChangedManifest;
  /** The version of an application that was made. */
  readonly made?: ApplicationVersion;
};

const insert = preparedQuery((database: Kysely<Tables>, row: LinkedRow) =>
  database.insertInto("audit").values({
    id: row.id,
    at: row.at,
    principal: row.principal,
    operation: row.operation,
    resource: row.resource,
    outcome: row.outcome,
    key_hash: row.key_hash,
    fencing_number: row.fencing_number,
    details: row.details,
    chain: row.chain,
    number: row.number,
    key_id: row.key_id,
    link: row.link,
  }),
);

/** Writes a row at the end of this process's chain. */
export async function insertAuditRow(
  transaction: Transaction<Tables>,
  { newId, clock, audit }: Context,
  { principal, operation: what, resource, outcome, keyHash, fencingNumber, details }: NewAuditRow,
): Promise<void> {
  // The id and the number are taken together, so that both have one order.
  const row = audit.chain.take(transaction, {
    id: newId(),
    at: new Date(clock.now()).toISOString(),
    // Both were validated before; escaping is a second safeguard for the log.
    principal: oneLine(principal),
    operation: what,
    resource: oneLine(resource),
    outcome,
    key_hash: keyHash,
    fencing_number: fencingNumber,
    details: JSON.stringify(details),
  });
  await insert(transaction, row);
}

/** Writes the audit row of an effect, in the transaction of the effect. */
export async function recordEffect(
  transaction: Transaction<Tables>,
  context: Context,
  { principal, operation: name, resource, changed, made }: Effect,
): Promise<void> {
  const { keyHash = null, fencingNumber = null, isProbe = false, ...call } = context.call ?? {};
  // It is rolled back, whatever happens.
  if (isProbe) return;
  await insertAuditRow(transaction, context, {
    principal: principal.name,
    operation: name === "putStagedFile" ? STAGED_FILES : name === "admin-token" ? name : operation(name).number,
    resource,
    outcome: "done",
    keyHash,
    fencingNumber,
    details: { ...call, ...(made !== undefined && { made }), ...(changed !== undefined && fieldChanges(changed)) },
  });
}

/** The same for the write of a manifest, whose digest changes with it. */
export async function recordChange(transaction: Transaction<Tables>, context: Context, effect: Effect): Promise<void> {
  // Another writer may be changing the digest too: a conflict then costs no number of the chain.
  await markChanged(transaction, effect.resource, context);
  await recordEffect(transaction, context, effect);
}

// Longer than any valid identity.
const MAX_LENGTH = 1024;

function oneLine(text: string): string {
  return escapeUnprintable(text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text);
}
