import { ClientError } from "../client/client-error.ts";
import type { Reader } from "../client/reader.ts";
import type { Stop } from "../clock/clock.ts";
import type { Deployment } from "../contract/generated/resources.ts";
import { text } from "../contract/json.ts";
import { type RolloutState, rolloutState } from "../contract/rollout-state.ts";
import type { Kind, LiveRow } from "../core/kind.ts";
import type { Step } from "../core/plan/plan.ts";
import type { Outcome } from "../core/report/report.ts";
import { shownRun } from "../core/report/shown-run.ts";
import { kindOf } from "../kinds/index.ts";
import type { WriteResult } from "./apply/write-job.ts";
import { type DeployedRun, followDeployedRun } from "./job-runs.ts";
import { type Following, type PollEnd, pollUntilEnd } from "./poll-until-end.ts";
import type { RolloutWaiting, Run } from "./run.ts";
import type { ApplyRules } from "./target.ts";

/** How the rollouts of steps are followed. */
export type RolloutFollowing = {
  readonly reader: Reader;
  readonly rules: ApplyRules;
  readonly run: Run & RolloutWaiting;
};

/** How a rollout ended, and the run that it started, if any. */
export type RolloutEnd = Pick<Outcome, "rollout" | "rolloutStatus" | "run">;

/** Follows the rollout of a step and the run that it starts; null where the step starts no rollout. */
export async function rollout(step: Step, written: WriteResult, following: RolloutFollowing): Promise<RolloutEnd> {
  const kind = kindOf(step.kind);
  if (!kind?.rollsOut || written.state !== "done") return { rollout: null };
  const { row } = written;
  const { rules, run } = following;
  const now = rolloutState(row.status);
  const started = now === "failed" ? null : runOf(kind, row);
  if ((now !== "progressing" && started === null) || !rules.wait) return { rollout: now };
  if (!row.id || !row.stamp) return { rollout: null };
  const deployed = { applicationId: row.id, deploymentId: row.stamp, started };
  let status = row.status?.status ?? "";
  const replaced = new AbortController();
  const onStatus = (next: string): void => {
    status = next;
    run.emit({ what: "rollout", step, status });
  };
  const signal = AbortSignal.any([run.stopping, replaced.signal]);
  const withStatus = (end: RolloutEnd): RolloutEnd =>
    end.rollout === "superseded" && status !== "" ? { ...end, rolloutStatus: status } : end;
  const ending = followToEnd(deployed, { ...following, onStatus, signal })
    .catch((error: unknown): RolloutEnd => {
      if (replaced.signal.aborted) return { rollout: "superseded" };
      if (run.stopping.aborted || error instanceof ClientError) return { rollout: "progressing" };
      throw error;
    })
    .then(withStatus);
  if (await endsBefore(ending, run.stopWaiting)) return ending;
  const { identity } = step;
  const ended = ending.then(({ run: _, ...end }) => run.emit({ what: "rolled-out", identity, ...end }));
  run.onLeft({ identity, ended, supersede: () => replaced.abort() });
  return { rollout: "progressing" };
}

// The run gets the time that the rollout leaves.
async function followToEnd(
  { started, ...rollout }: Rollout & { readonly started: DeployedRun | null },
  {
    reader,
    rules,
    run: { clock },
    onStatus,
    signal,
  }: RolloutFollowing & Stop & { readonly onStatus: (status: string) => void },
): Promise<RolloutEnd> {
  const end = clock.monotonic() + rules.rolloutTimeoutMs;
  const timeoutMs = rules.rolloutTimeoutMs;
  const ended = await followRollout(reader, rollout, { clock, timeoutMs, onStatus, signal });
  if (ended !== "succeeded" || started === null) return { rollout: ended };
  const following = { clock, timeoutMs: end - clock.monotonic(), signal };
  const run = await followDeployedRun(reader, started, {
    ...following,
    onStatus: (status) => onStatus(`run ${status}`),
  });
  return { rollout: run.ended, ...(run.last !== null && { run: shownRun(run.last) }) };
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

/** Follows a rollout through `listDeployments` until it ends, a newer deployment replaces it, or it times out. */
export async function followRollout(
  reader: Reader,
  { applicationId, deploymentId }: Rollout,
  following: Following,
): Promise<PollEnd<RolloutState | "superseded">> {
  return pollUntilEnd<RolloutState | "superseded">(async () => {
    const newest = await readDeployment(reader, applicationId, {}, following.signal);
    const isNewest = newest === undefined || newest.id === deploymentId;
    const own = isNewest ? newest : await readDeployment(reader, applicationId, { deploymentId }, following.signal);
    const current = own?.currentStatus;
    const status = current?.status ?? "";
    const state = rolloutState(current);
    const isReplaced = !isNewest && own !== undefined && isNewer(newest, own);
    const isOpen = state === "progressing" || status === CANCELLED;
    return { status, state: isReplaced && isOpen ? "superseded" : state };
  }, following);
}

const CANCELLED = "CANCELLED";

// A list may not have the newest deployment yet.
function isNewer({ version: newer }: Deployment, { version: older }: Deployment): boolean {
  return newer !== undefined && older !== undefined && newer > older;
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
