import { ClientError } from "../client/client-error.ts";
import type { Reader } from "../client/reader.ts";
import { text } from "../contract/json.ts";
import { rolloutState } from "../contract/rollout-state.ts";
import type { Kind, LiveRow } from "../core/kind.ts";
import type { Step } from "../core/plan/plan.ts";
import type { RolloutResult } from "../core/report/report.ts";
import { kindOf } from "../kinds/index.ts";
import type { WriteResult } from "./apply/write-job.ts";
import { type DeployedRun, followRollout, followRun, type Rollout } from "./rollout/follow-rollout.ts";
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
