// src/server/database: the tables of the control plane. See docs/control-plane.md#postgresql.

import type { Kysely, Transaction } from "kysely";
import { shapes } from "../../contract/generated/shapes.ts";
import type { Json, JsonObject } from "../../contract/json.ts";
import { type OperationName, operation } from "../../contract/operations.ts";
import { STAGED_FILES } from "../../contract/staged-files.ts";
import { differences, labelOf, redactedSides } from "../../model/differences.ts";
import { normalise } from "../../model/normal-form.ts";
import { escapeUnprintable } from "../../model/unprintable.ts";
import { preparedQuery } from "../../store/prepared-query.ts";
import type { LinkedRow } from "../audit/chain.ts";
import type { AuditDetails, NewAuditRow } from "../audit/entry.ts";
import type { Context } from "../context.ts";
import { markChanged } from "./digests.ts";
import type { Tables } from "./tables.ts";

/** An effect to be audited: who did what to which resource (`kind/key`, as `service/c1:ws1/api`). */
export type Effect = {
  readonly principal: { readonly name: string };
  /** The operation of the interface, or a command that changes the database itself. */
  readonly operation: OperationName | "putStagedFile" | "admin-token";
  readonly resource: string;
  /** The manifest before and after; `before` is null for a new resource. */
  readonly changed?: { readonly before: JsonObject | null; readonly after: JsonObject };
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
  { principal, operation: name, resource, changed }: Effect,
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
    details: changed === undefined ? call : { ...call, ...changesOf(changed) },
  });
}

/** The same for the write of a manifest, whose digest changes with it. */
export async function recordChange(transaction: Transaction<Tables>, context: Context, effect: Effect): Promise<void> {
  // Another writer may be changing the digest too: a conflict then costs no number of the chain.
  await markChanged(transaction, effect.resource, context);
  await recordEffect(transaction, context, effect);
}

const MAX_CHANGES = 50;
const MAX_VALUE_LENGTH = 200;

/** The fields in which two manifests differ, as plans show them. */
function changesOf({ before, after }: NonNullable<Effect["changed"]>): AuditDetails {
  if (before === null) return { isNew: true };
  if (before === after) return { changes: [] };
  const { type } = after;
  const shape = (typeof type === "string" && Object.hasOwn(shapes, type) ? shapes[type] : undefined) ?? { is: "free" };
  const all = differences(shape, normalise(shape, before, "content"), normalise(shape, after, "content"));
  const changes = all.slice(0, MAX_CHANGES).map((difference) => {
    const sides = redactedSides(difference);
    return {
      field: shortText(labelOf(shape, difference.tokens)),
      ...(difference.before !== undefined && { before: shortValue(sides.before) }),
      ...(difference.after !== undefined && { after: shortValue(sides.after) }),
    };
  });
  return { changes, ...(all.length > MAX_CHANGES && { moreChanges: all.length - MAX_CHANGES }) };
}

function shortValue(value: Json): Json {
  if (typeof value === "string") return shortText(value);
  return value !== null && typeof value === "object" ? shortObject(value) : value;
}

function shortObject(value: Json): Json {
  const written = JSON.stringify(value);
  return written.length > MAX_VALUE_LENGTH ? shortText(written) : value;
}

function shortText(text: string): string {
  return text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}…` : text;
}

// Longer than any valid identity.
const MAX_LENGTH = 1024;

function oneLine(text: string): string {
  return escapeUnprintable(text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text);
}
