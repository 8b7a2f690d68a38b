// src/engine/rollout: the phase that waits for rollouts. See docs/plan.md#when-a-rollout-has-failed.

import { ClientError, type FailureReason } from "../../client/client-error.ts";
import type { Reader } from "../../client/reader.ts";
import { backoff } from "../../clock/backoff.ts";
import type { Clock, Stop } from "../../clock/clock.ts";
import type { Deployment, JobRun } from "../../contract/generated/resources.ts";
import { type RolloutState, rolloutState } from "../../contract/rollout-state.ts";
import type { RolloutResult } from "../../core/report/report.ts";

/** The deployment whose rollout is followed. */
export type Rollout = { readonly applicationId: string; readonly deploymentId: string };

/** Follows a rollout through `listDeployments` until it ends or times out. */
export async function followRollout(
  reader: Reader,
  { applicationId, deploymentId }: Rollout,
  following: Following,
): Promise<Exclude<RolloutResult, null>> {
  return pollUntilEnd(async () => {
    const deployment = await readDeployment(reader, applicationId, { deploymentId }, following.signal);
    const current = deployment?.currentStatus;
    return { status: current?.status ?? "", state: rolloutState(current) };
  }, following);
}

/** The deployment that an application is still rolling out; undefined when the newest one has ended. */
export async function deploymentInProgress(
  reader: Reader,
  applicationId: string,
  { signal }: Stop,
): Promise<Deployment | undefined> {
  const newest = await readDeployment(reader, applicationId, {}, signal);
  return newest !== undefined && rolloutState(newest.currentStatus) === "progressing" ? newest : undefined;
}

async function readDeployment(
  reader: Reader,
  id: string,
  query: { readonly [name: string]: string },
  signal: AbortSignal,
): Promise<Deployment | undefined> {
  const { rows } = await reader.page("listDeployments", { path: { id }, query, limit: 1 }, { signal });
  return rows[0];
}

/** The run started by the deployment of a job's version. */
export type DeployedRun = { readonly jobId: string; readonly name: string; readonly version: number };

/** Follows a run through `getJobRun` until it ends or times out. */
export async function followRun(
  reader: Reader,
  { jobId, name, version }: DeployedRun,
  following: Following,
): Promise<Exclude<RolloutResult, null>> {
  const { signal } = following;
  // Control planes with this interface name the first run of a version this way.
  let runName = `${name}-${version}-1`;
  return pollUntilEnd(async () => {
    const run =
      (await readRun(reader, { jobId, jobRunName: runName }, signal)) ??
      (await findRun(reader, jobId, version, signal));
    if (run === undefined) return { status: "", state: "progressing" };
    runName = run.name;
    return { status: run.status, state: runState(run.status) };
  }, following);
}

async function readRun(
  reader: Reader,
  path: { readonly jobId: string; readonly jobRunName: string },
  signal: AbortSignal,
): Promise<JobRun | undefined> {
  return unless("not-found", () => reader.get("getJobRun", { path }, { signal }));
}

// A control plane may name runs differently; its list of runs, if it has one, shows the name.
async function findRun(
  reader: Reader,
  jobId: string,
  version: number,
  signal: AbortSignal,
): Promise<JobRun | undefined> {
  const page = await unless("route-missing", () => reader.page("listJobRuns", { path: { jobId } }, { signal }));
  return page?.rows.find(({ deploymentVersion }) => deploymentVersion === String(version));
}

async function unless<Reply>(reason: FailureReason, request: () => Promise<Reply>): Promise<Reply | undefined> {
  try {
    return await request();
  } catch (error) {
    if (error instanceof ClientError && error.reason === reason) return undefined;
    throw error;
  }
}

// A run with an unknown status counts as progressing.
function runState(status: string): RolloutState {
  if (status === "FINISHED") return "succeeded";
  return status === "FAILED" || status === "TERMINATED" ? "failed" : "progressing";
}

/** How long to follow a rollout or run, and the callback for each new status. */
type Following = {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly onStatus?: (status: string) => void;
  readonly signal: AbortSignal;
};

/** The result of one read of a rollout or run; `status` is empty until it has one. */
type Progress = { readonly status: string; readonly state: RolloutState };

const BACKOFF = { first: 100, most: 2_000, growth: 1.5 };

/** Polls at growing intervals until the rollout or run has ended or timed out. */
async function pollUntilEnd(
  read: () => Promise<Progress>,
  { clock, timeoutMs, onStatus, signal }: Following,
): Promise<Exclude<RolloutResult, null>> {
  const end = clock.monotonic() + timeoutMs;
  let last = "";
  for (let attempt = 1; ; attempt += 1) {
    const { status, state } = await read();
    if (status !== last && status !== "") onStatus?.(status);
    last = status;
    if (state !== "progressing") return state;
    const pause = backoff(attempt, BACKOFF);
    if (clock.monotonic() + pause > end) return "timeout";
    await clock.sleep(pause, { signal });
  }
}
