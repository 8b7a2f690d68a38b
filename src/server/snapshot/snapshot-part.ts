import type { Transaction } from "kysely";
import { type JsonObject, text } from "../../contract/json.ts";
import type { OperationName } from "../../contract/operations.ts";
import type { Context } from "../context.ts";
import type { Tables } from "../database/tables.ts";
import type { CopyOutcome } from "./copy-outcome.ts";
import type { Snapshot } from "./snapshot-rows.ts";

/** One row to be copied. */
export type RowCopy = {
  /** What it is called when it cannot be copied. */
  readonly name: string;
  /** The operation under which the audit has it. */
  readonly operation: OperationName;
  readonly copy: (transaction: Transaction<Tables>, context: Context) => Promise<CopyOutcome>;
};

/** Rows of a snapshot that are copied together. */
export type SnapshotPart = {
  readonly name: string;
  /** The parts that are copied before, because these rows name theirs. */
  readonly after: readonly string[];
  readonly rows: (snapshot: Snapshot) => readonly RowCopy[];
  /** What is left to do once every part is copied. */
  readonly finish?: (transaction: Transaction<Tables>, snapshot: Snapshot) => Promise<void>;
};

type Copy = (transaction: Transaction<Tables>, row: JsonObject, context: Context) => Promise<CopyOutcome>;

/** Copies the rows that a snapshot has under a key. */
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
    readonly copy: Copy;
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
