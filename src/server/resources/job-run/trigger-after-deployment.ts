import type { Transaction } from "kysely";
import type { Context } from "../../context.ts";
import { recordEffect } from "../../database/audit.ts";
import type { Tables } from "../../database/tables.ts";
import type { StoredDeployment } from "../application/rows.ts";
import { hasRuns, newRun, toDriverRun, withState } from "./job-run.ts";
import { countRuns, deleteTrigger, insertRun, insertTrigger, type RunTrigger } from "./rows.ts";

/** Stores that a job runs after its deployment; ignored for other applications. */
export async function rememberTrigger(
  transaction: Transaction<Tables>,
  { id, manifest }: StoredDeployment,
  trigger: RunTrigger,
): Promise<void> {
  if (hasRuns(manifest.type)) await insertTrigger(transaction, id, trigger);
}

/** Starts the triggered run when the deployment has succeeded; deletes the trigger when it has ended. */
export async function runOrDropTrigger(
  transaction: Transaction<Tables>,
  deployment: StoredDeployment,
  context: Context,
): Promise<void> {
  const { currentStatus, manifest } = deployment;
  if (!hasRuns(manifest.type) || currentStatus?.state.isTerminalState !== true) return;
  const trigger = await deleteTrigger(transaction, deployment.id);
  if (trigger !== null && currentStatus.status === "DEPLOY_SUCCESS")
    await start(transaction, deployment, trigger, context);
}

async function start(
  transaction: Transaction<Tables>,
  deployment: StoredDeployment,
  { name, subject }: RunTrigger,
  context: Context,
): Promise<void> {
  const now = context.now();
  const before = await countRuns(transaction, deployment.id);
  const run = newRun({ deployment, before, subject, now });
  const { state, dueAt } = await context.runs.observe(toDriverRun(run, deployment), now);
  await insertRun(transaction, deployment, { id: context.newId(), run: withState(run, state) }, dueAt);
  if (dueAt !== null) context.scheduleAdvance(dueAt);
  const application = deployment.fqn.slice(0, deployment.fqn.lastIndexOf(":"));
  const effect = { principal: { name }, operation: "putApp", resource: `job-run/${application}/${run.name}` } as const;
  await recordEffect(transaction, context, effect);
}
