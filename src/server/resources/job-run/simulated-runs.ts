import type { RunDriver, RunObservation, StartedRun } from "./run-driver.ts";

/** How a run fails: with an exit code, or it never ends. */
export type RunFailure = { readonly exitCode: number; readonly error: string } | "stuck";

// The statuses, and the fraction of the duration after which each is reached, the last one first.
const stops = [
  { status: "RUNNING", after: 0.3 },
  { status: "SCHEDULED", after: 0.1 },
  { status: "CREATED", after: 0 },
] as const;

/** A driver that runs nothing: it goes through the statuses of a run in real time. */
export function createSimulatedRuns({
  seconds,
  failures = () => null,
}: {
  /** The duration of a run; 0 ends it at once. */
  readonly seconds: number;
  /** Which runs fail, for tests. @default none */
  readonly failures?: (run: StartedRun) => RunFailure | null;
}): RunDriver {
  const span = seconds * 1000;
  return { observe: async (run, now) => observe(run, failures(run), span, now) };
}

function observe(run: StartedRun, failure: RunFailure | null, span: number, now: number): RunObservation {
  const at = run.startedAt + span;
  if (failure !== "stuck" && at <= now) return { state: ended(run, failure, at), dueAt: null };
  const here = stops.findIndex(({ after }) => run.startedAt + after * span <= now);
  const next = stops[here - 1]?.after ?? (failure === "stuck" ? null : 1);
  return {
    state: { status: stops[here]?.status ?? "CREATED", totalRetries: 0, end: null },
    dueAt: next === null ? null : run.startedAt + next * span,
  };
}

// A failed job has used all retries of its manifest.
function ended(
  { manifest }: StartedRun,
  failure: Exclude<RunFailure, "stuck"> | null,
  at: number,
): RunObservation["state"] {
  if (failure === null) return { status: "FINISHED", totalRetries: 0, end: { at, exitCode: 0 } };
  const { retries } = manifest;
  return { status: "FAILED", totalRetries: typeof retries === "number" ? retries : 0, end: { at, ...failure } };
}
