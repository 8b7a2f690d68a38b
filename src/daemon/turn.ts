import { HoldfastError } from "../core/errors.ts";
import { requireOwnState } from "../engine/load/own-state.ts";
import type { Run } from "../engine/run.ts";
import type { LockState, Target, TargetConnection } from "../engine/target.ts";

const RETRY_MS = 250;

/** Runs work on a target with the lock of its state, for this work alone: other processes may write it before and after. */
export async function inTurn<Result>(
  target: Target,
  {
    waitMs,
    reading,
  }: {
    /** How long the lock is waited for while another process has it. */
    readonly waitMs: number;
    /** What still reads with the connection once the turn is over. */
    readonly reading: () => Promise<unknown>;
  },
  run: Pick<Run, "clock" | "stopping">,
  work: (connection: TargetConnection) => Promise<Result>,
): Promise<Result> {
  const lock: LockState = async (state) => {
    const end = run.clock.monotonic() + waitMs;
    for (;;) {
      try {
        return await state.lock();
      } catch (error) {
        if (!isLocked(error) || run.clock.monotonic() >= end) throw error;
      }
      await run.clock.sleep(RETRY_MS, { signal: run.stopping });
    }
  };
  let isBegun = false;
  try {
    await requireOwnState(target, run.stopping);
    const connection = await target.server.connect(target.rules(target.source.config.repository), lock);
    isBegun = true;
    return await work(connection);
  } finally {
    await target.server.disconnect(isBegun ? reading() : Promise.resolve());
  }
}

/** Whether another process is writing the state, or has taken it over. */
export function isLocked(error: unknown): boolean {
  return error instanceof HoldfastError && error.code === "locked";
}
