// src/server/rollouts: simulated rollouts of applications. See docs/architecture.md#a-new-resource-of-the-control-plane.

import type { Kysely, Transaction } from "kysely";
import type { Context } from "../context.ts";
import { advanceDueRows } from "../database/advance-due-rows.ts";
import { fromText, type JsonText } from "../database/json-text.ts";
import type { Stored, Tables } from "../database/tables.ts";
import { withOutcome, withProgress } from "../resources/application/deployment.ts";
import {
  type DeploymentRow,
  findApplicationById,
  saveApplication,
  saveDeployment,
} from "../resources/application/rows.ts";
import { runOrDropTrigger } from "../resources/job-run/job-run.ts";
import type { DriverRollout, RolloutObservation } from "./rollout-driver.ts";

// Enough to keep the disk busy, and few enough not to block requests.
const AT_ONCE = 100;
/**
 * Asks the driver for the progress of every rollout that is due, and stores it. Returns when the next one is due, in
 * epoch milliseconds; null when no rollout is in progress.
 */
export function advanceRollouts(context: Context): Promise<number | null> {
  const { store, clock, rollouts } = context;
  return advanceDueRows(context, "deployments", dueRollouts, async (row) => {
    const observation = await rollouts.observe(toDriverRollout(fromText(row.json)), clock.now());
    await store.write((transaction) => saveProgress(transaction, context, row, observation));
  });
}

function dueRollouts(database: Kysely<Tables>, now: number) {
  return database
    .selectFrom("deployments")
    .select(["id", "json"])
    .where("look_at", "<=", now)
    .orderBy("look_at")
    .limit(AT_ONCE)
    .execute();
}

/** A deployment as the driver needs it. */
export function toDriverRollout({ id, fqn, manifest, currentStatus, createdAt }: Stored<DeploymentRow>): DriverRollout {
  return { deploymentId: id, fqn, manifest, status: currentStatus?.status ?? "", startedAt: Date.parse(createdAt) };
}

async function saveProgress(
  transaction: Transaction<Tables>,
  context: Context,
  { id, json }: { readonly id: string; readonly json: JsonText<Stored<DeploymentRow>> },
  { progress, dueAt }: RolloutObservation,
): Promise<void> {
  const current = await transaction
    .selectFrom("deployments")
    .select("json")
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  // It was cancelled in the meantime, or another server has advanced it.
  if (current.json !== json) return;
  const seen = fromText(json);
  const { clock, newId } = context;
  const moment = new Date(clock.now()).toISOString();
  const deployment = progress.length === 0 ? seen : withProgress(seen, progress, moment, newId);
  await saveDeployment(transaction, deployment, dueAt);
  await runOrDropTrigger(transaction, deployment, context);
  const application =
    seen.applicationId === undefined ? null : await findApplicationById(transaction, seen.applicationId);
  if (application === null) return;
  const changed = withOutcome(application, deployment, newId);
  if (changed !== application) await saveApplication(transaction, changed);
}
