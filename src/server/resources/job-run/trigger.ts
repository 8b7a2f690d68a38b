import type { Transaction } from "kysely";
import type { Context } from "../../context.ts";
import { recordEffect } from "../../database/audit.ts";
import type { Tables } from "../../database/tables.ts";
import type { Deployed } from "../application/rows.ts";
import { atState, driven, hasRuns, newRun } from "./job-run.ts";
import { addRun, addTrigger, countRuns, type Trigger, takeTrigger } from "./rows.ts";

/** Keeps that a job is to run once it is deployed; other applications run anyway. */
export async function triggerOnceDeployed(
  transaction: Transaction<Tables>,
  { id, manifest }: Deployed,
  trigger: Trigger,
): Promise<void> {
  if (hasRuns(manifest.type)) await addTrigger(transaction, id, trigger);
}

/** Starts the run that was to start with this deployment, once that is over; a failed one starts none. */
export async function settleTrigger(
  transaction: Transaction<Tables>,
  deployment: Deployed,
  context: Context,
): Promise<void> {
  const { currentStatus, manifest } = deployment;
  if (!hasRuns(manifest.type) || currentStatus?.state.isTerminalState !== true) return;
  const trigger = await takeTrigger(transaction, deployment.id);
  if (trigger !== null && currentStatus.status === "DEPLOY_SUCCESS")
    await start(transaction, deployment, trigger, context);
}

async function start(
  transaction: Transaction<Tables>,
  deployment: Deployed,
  { name, subject }: Trigger,
  context: Context,
): Promise<void> {
  const now = context.now();
  const before = await countRuns(transaction, deployment.id);
  const run = newRun({ deployment, before, subject, now });
  const { state, lookAt } = await context.runs.observe(driven(run, deployment), now);
  await addRun(transaction, deployment, { id: context.newId(), run: atState(run, state) }, lookAt);
  if (lookAt !== null) context.lookAt(lookAt);
  const application = deployment.fqn.slice(0, deployment.fqn.lastIndexOf(":"));
  const effect = { principal: { name }, operation: "putApp", resource: `job-run/${application}/${run.name}` } as const;
  await recordEffect(transaction, context, effect);
}
