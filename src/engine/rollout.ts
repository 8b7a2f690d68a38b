import { ClientError, type FailureReason } from "../client/client-error.ts";
import type { Reader } from "../client/reader.ts";
import { backoff } from "../clock/backoff.ts";
import type { Clock, Stop } from "../clock/clock.ts";
import type { Deployment, JobRun } from "../contract/generated/resources.ts";
import { text } from "../contract/json.ts";
import { type RolloutState, rolloutState, runState } from "../contract/rollout-state.ts";
import type { Kind, LiveRow } from "../core/kind.ts";
import type { Step } from "../core/plan/plan.ts";
import type { RolloutResult } from "../core/report/report.ts";
import { kindOf } from "../kinds/index.ts";
import type { WriteResult } from "./apply/write-job.ts";
import type { RolloutWaiting, Run } from "./run.ts";
import type { ApplyRules } from "./target.ts";

/** How the rollouts of steps are followed. */
export type RolloutFollowing = {
  readonly reader: Reader;
  readonly rules: ApplyRules;
  readonly run: Run & RolloutWaiting;
};

/** Follows the rollout of a step and the run that it starts; null where the step starts no rollout. */
export async function rollout(step: Step, written: WriteResult, following: RolloutFollowing): Promise<RolloutResult> {
  const kind = kindOf(step.kind);
  if (!kind?.rollsOut || written.state !== "done") return null;
  const { row } = written;
  const { rules, run } = following;
  const now = rolloutState(row.status);
  const started = now === "failed" ? null : runOf(kind, row);
  if ((now !== "progressing" && started === null) || !rules.wait) return now;
  if (!row.id || !row.stamp) return null;
  const deployed = { applicationId: row.id, deploymentId: row.stamp, started };
  const ending = followToEnd(step, deployed, following).catch((error: unknown): RolloutResult => {
    if (run.stopping.aborted || error instanceof ClientError) return "progressing";
    throw error;
  });
  if (await endsBefore(ending, run.stopWaiting)) return ending;
  const { identity } = step;
  run.onLeft(ending.then((rollout) => run.emit({ what: "rolled-out", identity, rollout })));
  return "progressing";
}

// The run gets the time that the rollout leaves.
async function followToEnd(
  step: Step,
  { started, ...rollout }: Rollout & { readonly started: DeployedRun | null },
  { reader, rules, run }: RolloutFollowing,
): Promise<RolloutResult> {
  const { clock, stopping: signal } = run;
  const end = clock.monotonic() + rules.rolloutTimeoutMs;
  const onStatus = (status: string): void => run.emit({ what: "rollout", step, status });
  const timeoutMs = rules.rolloutTimeoutMs;
  const ended = await followRollout(reader, rollout, { clock, timeoutMs, onStatus, signal });
  if (ended !== "succeeded" || started === null) return ended;
  const following = { clock, timeoutMs: end - clock.monotonic(), signal };
  return followRun(reader, started, { ...following, onStatus: (status) => onStatus(`run ${status}`) });
}

function runOf({ startsRun }: Kind, { id: jobId, manifest, version }: LiveRow): DeployedRun | null {
  const name = text(manifest.name);
  if (!startsRun?.(manifest) || !jobId || name === undefined || version === undefined) return null;
  return { jobId, name, version };
}

async function endsBefore(ending: Promise<unknown>, signal: AbortSignal): Promise<boolean> {
  const { promise: aborted, resolve } = Promise.withResolvers<boolean>();
  const leave = (): void => resolve(false);
  signal.addEventListener("abort", leave);
  if (signal.aborted) leave();
  try {
    return await Promise.race([ending.then(() => true), aborted]);
  } finally {
    signal.removeEventListener("abort", leave);
  }
}

/** The deployment whose rollout is followed. */
type Rollout = { readonly applicationId: string; readonly deploymentId: string };

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
type DeployedRun = { readonly jobId: string; readonly name: string; readonly version: number };

/** Follows a run through `getJobRun` until it ends or times out. */
async function followRun(
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
