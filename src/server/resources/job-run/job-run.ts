// src/server/resources/job-run: runs of jobs. See docs/architecture.md#a-new-resource-of-the-control-plane.

import type { Transaction } from "kysely";
import type { JobRun, Subject } from "../../../contract/generated/resources.ts";
import { isObject, type JsonObject, text } from "../../../contract/json.ts";
import type { Context } from "../../context.ts";
import { recordEffect } from "../../database/audit.ts";
import { countRows } from "../../database/select-page.ts";
import type { Stored, Tables } from "../../database/tables.ts";
import { requiredName } from "../../manifest/require-valid-manifest.ts";
import type { DeploymentRow } from "../application/rows.ts";
import { deleteTrigger, insertRun, insertTrigger, type RunTrigger } from "./rows.ts";
import type { RunState, StartedRun } from "./run-driver.ts";

// The types of applications with runs.
const runTypes: readonly unknown[] = ["job", "spark-job"];

/** Whether applications of that type have runs. */
export function hasRuns(type: unknown): boolean {
  return runTypes.includes(type);
}

/** A new run. */
function newRun({
  deployment,
  before,
  subject,
  now,
}: {
  readonly deployment: Stored<DeploymentRow>;
  /** The number of earlier runs of this deployment. */
  readonly before: number;
  readonly subject: Subject;
  /** In epoch milliseconds. */
  readonly now: number;
}): JobRun {
  const { manifest, version } = deployment;
  const applicationName = requiredName(manifest);
  return {
    name: `${applicationName}-${version}-${before + 1}`,
    applicationName,
    deploymentVersion: String(version),
    command: commandOf(manifest),
    triggeredBy: subject.subjectId,
    triggeredBySubject: subject,
    createdAt: now,
    totalRetries: 0,
    status: "CREATED",
  };
}

/** A run as the driver needs it. */
export function toDriverRun({ name, status, createdAt }: JobRun, { fqn, manifest }: DeploymentRow): StartedRun {
  return { name, status, manifest, startedAt: createdAt, applicationFqn: fqn.slice(0, fqn.lastIndexOf(":")) };
}

/** The run with its new state. */
export function withState(run: JobRun, { status, totalRetries, end }: RunState): JobRun {
  const moved = { ...run, status, totalRetries };
  if (end === null) return moved;
  const { at, exitCode, error } = end;
  return {
    ...moved,
    endTime: at,
    duration: (at - run.createdAt) / 1000,
    exitCode,
    ...(error !== undefined && { error }),
  };
}

function commandOf({ image, command }: JsonObject): string {
  const places = isObject(image) ? [image.command, isObject(image.build_spec) ? image.build_spec.command : null] : [];
  return places.map(text).find((found) => found !== undefined) ?? text(command) ?? "";
}

/** Stores that a job runs after its deployment; ignored for other applications. */
export async function rememberTrigger(
  transaction: Transaction<Tables>,
  { id, manifest }: Stored<DeploymentRow>,
  trigger: RunTrigger,
): Promise<void> {
  if (hasRuns(manifest.type)) await insertTrigger(transaction, id, trigger);
}

/** Starts the triggered run when the deployment has succeeded; deletes the trigger when it has ended. */
export async function runOrDropTrigger(
  transaction: Transaction<Tables>,
  deployment: Stored<DeploymentRow>,
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
  deployment: Stored<DeploymentRow>,
  { name, subject }: RunTrigger,
  context: Context,
): Promise<void> {
  const now = context.clock.now();
  const before = await countRows(transaction.selectFrom("job_runs").where("deployment_id", "=", deployment.id));
  const run = newRun({ deployment, before, subject, now });
  const { state, dueAt } = await context.runs.observe(toDriverRun(run, deployment), now);
  await insertRun(transaction, deployment, { id: context.newId(), run: withState(run, state) }, dueAt);
  if (dueAt !== null) context.scheduleAdvance(dueAt);
  const application = deployment.fqn.slice(0, deployment.fqn.lastIndexOf(":"));
  const effect = { principal: { name }, operation: "putApp", resource: `job-run/${application}/${run.name}` } as const;
  await recordEffect(transaction, context, effect);
}
