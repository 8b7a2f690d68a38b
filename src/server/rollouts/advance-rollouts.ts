// src/server/rollouts: rollouts of applications, simulated or by a program. See docs/control-plane.md#rollouts.

import type { Kysely, Transaction } from "kysely";
import type { Context } from "../context.ts";
import { advanceDueRows, CLAIM_MS } from "../database/advance-due-rows.ts";
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
import type { DriverRollout, FailureRule, RolloutDriver, RolloutObservation } from "./rollout-driver.ts";

declare module "../database/tables.ts" {
  interface Tables {
    /** The rules by which simulated rollouts fail, in their order. */
    readonly rollout_failures: { readonly position: number; readonly json: JsonText<FailureRule> };
  }
}

// Enough to keep the disk busy, and few enough not to block requests.
const AT_ONCE = 100;

// Programs are asked sooner than another server may take over their rollouts.
const PROGRAMS_MS = 3000;

/**
 * Asks the driver for the progress of every rollout that is due, and stores it. Returns when the next one is due, in
 * epoch milliseconds; null when no rollout is in progress.
 */
export async function advanceRollouts(context: Context): Promise<number | null> {
  const { store, clock, rollouts } = context;
  rollouts.setFailures?.(await findFailures(store.read));
  const next = await advanceDueRows(context, "deployments", findDue(rollouts), async (row) => {
    const observation = await rollouts.observe(toDriverRollout(fromText(row.json)), clock.now());
    await store.write((transaction) => saveProgress(transaction, context, row, observation));
  });
  const isRunning = (rollouts.programs?.deployments() ?? []).length > 0;
  return isRunning ? Math.min(next ?? Number.POSITIVE_INFINITY, clock.now() + PROGRAMS_MS) : next;
}

/** The rules by which simulated rollouts fail, as callers have set them. */
export async function findFailures(database: Kysely<Tables>): Promise<readonly FailureRule[]> {
  const rows = await database.selectFrom("rollout_failures").select("json").orderBy("position").execute();
  return rows.map(({ json }) => fromText(json));
}

/** Begins with what an earlier process has left: the failures that were set, and the rollouts in progress. */
export async function resumeRollouts(context: Context): Promise<void> {
  const { store, rollouts } = context;
  rollouts.setFailures?.(await findFailures(store.read));
  await store.write((transaction) => wakeRollouts(transaction, context));
}

/**
 * Makes every rollout in progress due, as the driver may be another one than before: at once, or, where another server may
 * be following it, when that has had the time to do so.
 */
export async function wakeRollouts(transaction: Transaction<Tables>, { store, clock }: Context): Promise<void> {
  const look_at = Math.ceil(clock.now()) + (store.isShared ? CLAIM_MS : 0);
  await transaction.updateTable("deployments").set({ look_at }).where("look_at", ">", look_at).execute();
}

function findDue({ programs }: RolloutDriver) {
  return async (database: Kysely<Tables>, now: number) => {
    const own = programs?.deployments() ?? [];
    const rows = database.selectFrom("deployments").select(["id", "json"]);
    const followed = own.length === 0 ? [] : await rows.where("id", "in", own).where("is_over", "=", 0).execute();
    for (const id of own) if (!followed.some((row) => row.id === id)) programs?.end(id);
    const due = await rows.where("look_at", "<=", now).orderBy("look_at").limit(AT_ONCE).execute();
    return [...followed, ...due.filter(({ id }) => !own.includes(id))];
  };
}

/** A deployment as the driver needs it. */
export function toDriverRollout(deployment: Stored<DeploymentRow>): DriverRollout {
  const { id: deploymentId, fqn, manifest, currentStatus, deploymentStatuses, createdAt } = deployment;
  const status = currentStatus?.status ?? "";
  const startedAt = Date.parse(createdAt);
  return { deploymentId, fqn, manifest, status, statuses: deploymentStatuses.length, startedAt };
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
  if (progress.length === 0) {
    const look_at = dueAt === null ? null : Math.ceil(dueAt);
    await transaction.updateTable("deployments").set({ look_at }).where("id", "=", id).execute();
    return;
  }
  const seen = fromText(json);
  const { clock, newId } = context;
  const moment = new Date(clock.now()).toISOString();
  const deployment = withProgress(seen, progress, moment, newId);
  await saveDeployment(transaction, deployment, dueAt);
  await runOrDropTrigger(transaction, deployment, context);
  const application =
    seen.applicationId === undefined ? null : await findApplicationById(transaction, seen.applicationId);
  if (application === null) return;
  const changed = withOutcome(application, deployment, newId);
  if (changed !== application) await saveApplication(transaction, changed);
}
