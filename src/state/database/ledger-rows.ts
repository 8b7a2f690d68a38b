import type { Insertable } from "kysely";
import { requireInvariant } from "../../contract/invariant.ts";
import { isObject, type Json, type JsonObject } from "../../contract/json.ts";
import { type OperationName, operations, type WriteOperation } from "../../contract/operations.ts";
import { releaseBuffer } from "../../contract/release-buffer.ts";
import type { Identity } from "../../core/manifest.ts";
import type { Recorded } from "../../core/recorded.ts";
import { seal, unseal } from "../../seal/seal.ts";
import type { SealKey } from "../../seal/seal-key.ts";
import type { Intent, PendingIntent } from "../ledger.ts";
import { contentText, type ReceiptDigest, receiptDigest } from "../receipt-digest.ts";
import { MARK_BYTES, type StateTables } from "./state-schema.ts";

/** The server that rows belong to, and the key that seals them. */
export type Place = { readonly server: string; readonly key: SealKey; readonly digest: ReceiptDigest };

/** Converts a receipt to a row; everything that could hold a secret is sealed. */
export function receiptRow({ server, key, digest }: Place, receipt: Recorded): Insertable<StateTables["receipt"]> {
  const { identity, kind, id, version, at, returned } = receipt;
  requireInvariant(identity.startsWith(`${kind}/`), "receipt", "a receipt has the kind of its resource");
  const content = contentText(receipt);
  const sealed = seal(key, content, `receipt ${server} ${identity}`);
  const mark = markOf(sealed);
  const tally = returned === null ? null : digest(content);
  return { server, identity, kind, external_id: id, version, at, sealed, mark, tally };
}

function markOf(sealed: Buffer): string {
  return sealed.toString("hex", 0, MARK_BYTES);
}

/** Converts a row to a receipt. */
export function recordedFrom(key: SealKey, row: StateTables["receipt"]): Recorded {
  const { identity, kind, external_id, version, at } = row;
  const content = openObject(key, row.sealed, `receipt ${row.server} ${identity}`);
  const written = isObject(content.written) ? content.written : {};
  const returned = isObject(content.echo) ? content.echo : null;
  const receipt = { identity, kind, id: external_id, version, at, written, returned };
  const unrecorded = pathsFrom(content.unrecorded);
  return unrecorded.length === 0 ? receipt : { ...receipt, unrecorded };
}

function pathsFrom(value: Json | undefined): readonly (readonly string[])[] {
  return Array.isArray(value) ? value.map((path: Json) => (Array.isArray(path) ? path.map(String) : [])) : [];
}

/** Converts an intent to a row; everything that could hold a secret is sealed. */
export function intentRow(server: string, key: SealKey, intent: Intent): Insertable<StateTables["intent"]> {
  const { id, identity, kind, operation, versionBefore, creates, at, deadline, manifest, ignored, key: sent } = intent;
  requireInvariant(identity.startsWith(`${kind}/`), "journal", "an intent has the kind of its resource");
  requireInvariant(Number.isFinite(deadline), "journal", "an intent has a deadline");
  return {
    id,
    server,
    identity,
    kind,
    operation,
    version_before: versionBefore,
    creates: creates ? 1 : 0,
    deadline,
    sealed: seal(key, JSON.stringify(manifest), `intent ${id}`),
    reply: null,
    key: sent === null ? null : seal(key, sent, `key ${id}`),
    left_alone: ignored.length === 0 ? null : seal(key, JSON.stringify({ left: ignored }), `left ${id}`),
    at,
  };
}

/** Converts a row to an intent. */
export function intentFrom(key: SealKey, row: StateTables["intent"]): PendingIntent {
  return {
    id: row.id,
    identity: row.identity satisfies Identity,
    kind: row.kind,
    operation: writeOperation(row.operation),
    versionBefore: row.version_before,
    creates: row.creates === 1,
    at: row.at,
    deadline: row.deadline,
    manifest: openObject(key, row.sealed, `intent ${row.id}`),
    reply: row.reply === null ? null : unseal(key, row.reply, `reply ${row.id}`),
    key: row.key === null ? null : unseal(key, row.key, `key ${row.id}`).toString(),
    ignored: row.left_alone === null ? [] : pathsFrom(openObject(key, row.left_alone, `left ${row.id}`).left),
  };
}

/** The key that rows are sealed with, and the one that they are to be sealed with. */
export type KeyChange<From = SealKey | null> = { readonly from: From; readonly to: SealKey };

/** A row of a table as a driver returns it. */
export type TableRow = { readonly [column: string]: unknown };

const SEALED: { readonly [table: string]: { readonly [column: string]: (row: TableRow) => string } } = {
  receipt: { sealed: ({ server, identity }) => `receipt ${server} ${identity}` },
  intent: {
    sealed: ({ id }) => `intent ${id}`,
    reply: ({ id }) => `reply ${id}`,
    key: ({ id }) => `key ${id}`,
    left_alone: ({ id }) => `left ${id}`,
  },
};

/** The tables that have sealed values. */
export const sealedTables = Object.keys(SEALED);

/** Seals the values of rows with another key; returns the columns that change. Each value is unsealed and so checked. */
export function rowResealer(table: string, { from, to }: KeyChange<SealKey>): (row: TableRow) => TableRow {
  const digest = receiptDigest(to);
  const columns = Object.entries(SEALED[table] ?? {});
  return (row) => {
    const changed: { [column: string]: unknown } = {};
    for (const [column, aadOf] of columns) {
      const value = row[column];
      if (!(value instanceof Uint8Array)) continue;
      const content = unseal(from, value, aadOf(row));
      const sealed = seal(to, content, aadOf(row));
      changed[column] = sealed;
      if ("mark" in row) changed.mark = markOf(sealed);
      if (typeof row.tally === "string") changed.tally = digest(content.toString());
      releaseBuffer(content);
      releaseBuffer(value);
    }
    return changed;
  };
}

/** Unseals the values of a row; fails where one was changed or sealed with another key. */
export function requireRowSealed(table: string, row: TableRow, key: SealKey): void {
  // A column that a later release has added is absent.
  for (const [column, aadOf] of Object.entries(SEALED[table] ?? {})) {
    const value = row[column];
    if (value instanceof Uint8Array) releaseBuffer(unseal(key, value, aadOf(row)));
  }
}

/** Seals the reply of an intent. */
export function sealedReply(key: SealKey, id: string, reply: Uint8Array): Buffer {
  return seal(key, Buffer.from(reply), `reply ${id}`);
}

function openObject(key: SealKey, sealed: Uint8Array, aad: string): JsonObject {
  const bytes = unseal(key, sealed, aad);
  const content: unknown = JSON.parse(bytes.toString());
  releaseBuffer(bytes);
  if (!isObject(content)) throw new TypeError("a sealed value in the ledger is not a JSON object");
  return content;
}

function writeOperation(name: string): WriteOperation {
  if (!isOperation(name) || operations[name].retry === "read")
    throw new TypeError(`the journal names an unknown write operation: ${name}`);
  return name as WriteOperation;
}

function isOperation(name: string): name is OperationName {
  return Object.hasOwn(operations, name);
}
