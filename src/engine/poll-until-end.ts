import { backoff } from "../clock/backoff.ts";
import type { Clock, Stop } from "../clock/clock.ts";
import type { RolloutState } from "../contract/rollout-state.ts";

/** How long to follow a rollout or run, and the callback for each new status. */
export type Following = Stop & {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly onStatus?: (status: string) => void;
};

/** The result of one read of a rollout or run; `status` is empty until it has one. */
export type Progress<State extends string = RolloutState> = { readonly status: string; readonly state: State };

/** How following a rollout or run has ended. */
export type PollEnd<State extends string = RolloutState> = Exclude<State, "progressing"> | "timeout";

const BACKOFF = { first: 100, most: 2_000, growth: 1.5 };

/** Polls at growing intervals until the rollout or run has ended or timed out. */
export async function pollUntilEnd<State extends string>(
  read: () => Promise<Progress<State>>,
  { clock, timeoutMs, onStatus, signal }: Following,
): Promise<PollEnd<State>> {
  const end = clock.monotonic() + timeoutMs;
  let last = "";
  for (let attempt = 1; ; attempt += 1) {
    const { status, state } = await read();
    if (status !== last && status !== "") onStatus?.(status);
    last = status;
    if (hasEnded(state)) return state;
    const pause = backoff(attempt, BACKOFF);
    if (clock.monotonic() + pause > end) return "timeout";
    await clock.sleep(pause, { signal });
  }
}

function hasEnded<State extends string>(state: State): state is Exclude<State, "progressing"> {
  return state !== "progressing";
}
