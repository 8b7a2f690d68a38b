import type { Transaction } from "kysely";
import { type JsonObject, text } from "../../contract/json.ts";
import type { OperationName } from "../../contract/operations.ts";
import { systemPrincipal } from "../auth/principal.ts";
import type { Context } from "../context.ts";
import type { Tables } from "../database/tables.ts";

/** The rows read from another control plane, by their kind. */
export type Snapshot = { readonly [rows: string]: readonly JsonObject[] };

/** The outcome of copying one row. */
export type CopyOutcome =
  | { readonly result: "exists" }
  /** `resource` is `kind/key`, as in the audit. */
  | { readonly result: "copied"; readonly resource: string }
  | { readonly result: "refused"; readonly why: string };

/** The principal that copies, in the audit and as the creator of placeholders. */
export const snapshotPrincipal = systemPrincipal("snapshot");

/** The outcome of a row that cannot be copied. */
export function notCopied(why: string): CopyOutcome {
  return { result: "refused", why };
}

/** One row to copy. */
export type RowCopy = {
  /** Its name in messages. */
  readonly name: string;
  /** The operation for the audit. */
  readonly operation: OperationName;
  readonly copy: (transaction: Transaction<Tables>, context: Context) => Promise<CopyOutcome>;
};

/** Rows of a snapshot that are copied in one step. */
export type SnapshotPart = {
  readonly name: string;
  /** The parts to copy before, because these rows refer to them. */
  readonly after: readonly string[];
  readonly rows: (snapshot: Snapshot) => readonly RowCopy[];
  /** Work after every part is copied. */
  readonly finish?: (transaction: Transaction<Tables>, snapshot: Snapshot) => Promise<void>;
};

/** A part that copies the rows under a key of the snapshot. */
export function snapshotPart(
  name: string,
  {
    rows: key,
    operation,
    after = [],
    copy,
  }: {
    readonly rows: string;
    readonly operation: OperationName;
    readonly after?: readonly string[];
    readonly copy: (transaction: Transaction<Tables>, row: JsonObject, context: Context) => Promise<CopyOutcome>;
  },
): SnapshotPart {
  return {
    name,
    after,
    rows: (snapshot) =>
      (snapshot[key] ?? []).map((row) => ({
        name: `${name}/${text(row.fqn) ?? text(row.name) ?? text(row.id) ?? "without a name"}`,
        operation,
        copy: (transaction, context) => copy(transaction, row, context),
      })),
  };
}
