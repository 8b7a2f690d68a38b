import { ClientError } from "../client/client-error.ts";
import { text } from "../contract/json.ts";
import { rolloutState } from "../contract/rollout-state.ts";
import type { Kind, LiveRow } from "../core/kind.ts";
import type { Step } from "../core/plan/plan.ts";
import type { ProgressEvent } from "../core/report/events.ts";
import type { RolloutResult } from "../core/report/report.ts";
import { kindOf } from "../kinds/index.ts";
import type { WriteContext, WriteResult } from "./apply/write-job.ts";
import { followRollout, type Rollout } from "./rollout/follow-rollout.ts";
import { type DeployedRun, followRun } from "./rollout/follow-run.ts";

/** The context for following the rollouts of steps. */
export type StepRolloutContext = Pick<
  WriteContext,
  "clock" | "reader" | "rolloutTimeoutMs" | "stopping" | "stopWaiting"
> & {
  /** Follow rollouts to their end. */
  readonly wait: boolean;
  readonly onProgress: (progress: ProgressEvent) => void;
  /** Called with work that continues after the apply: rollouts that it does not wait for. */
  readonly onLeft: (work: Promise<void>) => void;
  /** The number of rollouts that the apply waits for. */
  readonly rollouts: { open: number };
};

/** Follows the rollout of a step and the run that it starts; null where the step starts no rollout. */
export async function rolloutOf(step: Step, written: WriteResult, context: StepRolloutContext): Promise<RolloutResult> {
  const kind = kindOf(step.kind);
  if (!kind?.rollsOut || written.state !== "done") return null;
  const { row } = written;
  const now = rolloutState(row.status);
  const run = now === "failed" ? null : runOf(kind, row);
  if ((now !== "progressing" && run === null) || !context.wait) return now;
  if (!row.id || !row.stamp) return null;
  const ending = followToEnd(step, { applicationId: row.id, deploymentId: row.stamp, run }, context).catch(
    (error: unknown): RolloutResult => {
      if (context.stopping.aborted || error instanceof ClientError) return "progressing";
      throw error;
    },
  );
  context.rollouts.open += 1;
  const isOver = await endsBefore(ending, context.stopWaiting).finally(() => {
    context.rollouts.open -= 1;
  });
  if (isOver) return ending;
  const { identity } = step;
  context.onLeft(ending.then((rollout) => context.onProgress({ what: "rolled-out", identity, rollout })));
  return "progressing";
}

// The run gets the time that the rollout leaves.
async function followToEnd(
  step: Step,
  { run, ...rollout }: Rollout & { readonly run: DeployedRun | null },
  { clock, reader, rolloutTimeoutMs, stopping: signal, onProgress }: StepRolloutContext,
): Promise<RolloutResult> {
  const end = clock.monotonic() + rolloutTimeoutMs;
  const onStatus = (status: string): void => onProgress({ what: "rollout", step, status });
  const ended = await followRollout(reader, rollout, { clock, timeoutMs: rolloutTimeoutMs, onStatus, signal });
  if (ended !== "succeeded" || run === null) return ended;
  const following = { clock, timeoutMs: end - clock.monotonic(), signal };
  return followRun(reader, run, { ...following, onStatus: (status) => onStatus(`run ${status}`) });
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
