// src/server/snapshot: live as a file, for plans without a token. See docs/pull-requests.md#pull-requests-of-forks.

import type { Transaction } from "kysely";
import { chunks } from "../../store/prepared-query.ts";
import type { Context } from "../context.ts";
import { recordEffect } from "../database/audit.ts";
import type { Tables } from "../database/tables.ts";
import type { ResourceDefinition } from "../resource.ts";
import {
  type CopyOutcome,
  type RowCopy,
  type Snapshot,
  type SnapshotPart,
  snapshotPrincipal,
} from "./snapshot-part.ts";

// As many as share one commit.
const AT_ONCE = 100;

/**
 * Copies rows that are absent: they keep their ids, versions, timestamps and creators; tokens and secret values are not
 * copied. Returns what could not be copied, and why.
 */
export async function copySnapshot(
  snapshot: Snapshot,
  resources: readonly ResourceDefinition[],
  context: Context,
): Promise<readonly string[]> {
  const parts = inOrder(resources.flatMap(({ snapshot: own = [] }) => own));
  const refused: string[] = [];
  for (const part of parts) {
    for (const rows of chunks(part.rows(snapshot), AT_ONCE)) {
      const written = rows.map(async (row) => {
        const copied = await context.store.write((transaction) => copyRow(transaction, row, context));
        if (copied.result === "refused") refused.push(`${row.name}: ${copied.why}`);
      });
      await Promise.all(written);
    }
  }
  await context.store.write(async (transaction) => {
    for (const { finish } of parts) await finish?.(transaction, snapshot);
  });
  return refused;
}

/** The parts, each after those that it depends on. */
function inOrder(parts: readonly SnapshotPart[]): readonly SnapshotPart[] {
  const ordered: SnapshotPart[] = [];
  while (ordered.length < parts.length) {
    const done = ordered.map(({ name }) => name);
    const next = parts.filter(
      ({ name, after }) => !done.includes(name) && after.every((other) => done.includes(other)),
    );
    if (next.length === 0) throw new TypeError("parts of the snapshot wait for each other");
    ordered.push(...next);
  }
  return ordered;
}

async function copyRow(
  transaction: Transaction<Tables>,
  { operation, copy }: RowCopy,
  context: Context,
): Promise<CopyOutcome> {
  const copied = await copy(transaction, context);
  if (copied.result === "copied") {
    await recordEffect(transaction, context, { principal: snapshotPrincipal, operation, resource: copied.resource });
  }
  return copied;
}
