import type { Identity } from "../core/manifest.ts";
import type { LeftRollout } from "../engine/run.ts";

/** The rollouts of a target that its passes no longer wait for. */
export type LeftRollouts = {
  readonly add: (rollout: LeftRollout) => void;
  /** Ends the rollouts of a resource, since a newer write of it begins. */
  readonly supersede: (identity: Identity) => void;
  readonly ended: () => Promise<unknown>;
};

/** Keeps the rollouts that passes no longer wait for, until they end or the signal is aborted. */
export function createLeftRollouts(onFailure: (error: unknown) => void, signal: AbortSignal): LeftRollouts {
  const left = new Map<LeftRollout, Promise<void>>();
  const onError = (error: unknown): void => {
    if (!signal.aborted) onFailure(error);
  };
  return {
    add: (rollout) => {
      left.set(
        rollout,
        rollout.ended.catch(onError).finally(() => left.delete(rollout)),
      );
    },
    supersede: (identity) => {
      for (const rollout of left.keys()) if (rollout.identity === identity) rollout.supersede();
    },
    ended: () => Promise.all(left.values()),
  };
}
