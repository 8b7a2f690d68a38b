import type { Clock } from "./clock.ts";

/** Where every call to one server waits while that server asked for a pause. */
export type Gate = {
  readonly pause: (milliseconds: number) => void;
  /** Resolves when nothing is paused any more. */
  readonly pass: (options: { readonly signal: AbortSignal }) => Promise<void>;
};

/** A gate on the given clock; a longer pause replaces a shorter one, never the other way round. */
export function createGate(clock: Clock): Gate {
  let closedUntil = 0;
  return {
    pause: (milliseconds) => {
      closedUntil = Math.max(closedUntil, clock.now() + milliseconds);
    },
    pass: async ({ signal }) => {
      while (clock.now() < closedUntil) await clock.wait(Math.ceil(closedUntil - clock.now()), { signal });
    },
  };
}
