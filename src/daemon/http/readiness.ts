import { StoreError } from "../../store/store-error.ts";
import type { PassObserver } from "../pass-observer.ts";

/** The readiness of a daemon, as `/readyz` shows it. */
export type DaemonReadiness = {
  /** Observes the passes of a target, which is not ready before its first pass has ended. */
  readonly observe: (target: string) => PassObserver;
  /** Drops all targets except these. */
  readonly keep: (targets: readonly string[]) => void;
  /** Why the daemon is not ready, as one word that is safe to show without authentication; null when it is ready. */
  readonly reason: () => string | null;
  /** Whether a target waits for another process, which writes in its place. */
  readonly standsBy: () => boolean;
};

type TargetState = "starting" | "first-pass-failed" | "state-full" | "state-unavailable" | "standing-by" | "ready";

/** Creates the readiness of a daemon that has run no pass yet. */
export function createReadiness(): DaemonReadiness {
  const states = new Map<string, TargetState>();
  const fail = (target: string, error: unknown): void => {
    states.set(target, afterFailure(states.get(target) ?? "starting", error));
  };
  return {
    reason: () => {
      if (states.size === 0) return "starting";
      return [...states.values()].find((state) => !isReady(state)) ?? null;
    },
    standsBy: () => [...states.values()].includes("standing-by"),
    keep: (targets) => {
      for (const target of states.keys()) if (!targets.includes(target)) states.delete(target);
    },
    observe: (target) => {
      states.set(target, states.get(target) ?? "starting");
      return {
        emit: (event) => {
          if (["applied", "planned", "taking-over"].includes(event.what)) states.set(target, "ready");
          if (event.what === "standing-by") states.set(target, "standing-by");
          if (event.what === "read" && event.isRefused) fail(target, null);
        },
        failure: (error) => fail(target, error),
      };
    },
  };
}

// A failure after the first pass leaves the daemon ready: the last applied state stays in force, and metrics show the failure.
function afterFailure(state: TargetState, error: unknown): TargetState {
  const fault = storeErrorIn(error);
  if (fault !== null) return fault.code === "full" ? "state-full" : "state-unavailable";
  return isReady(state) ? "ready" : "first-pass-failed";
}

function isReady(state: TargetState): boolean {
  return state === "ready" || state === "standing-by";
}

function storeErrorIn(error: unknown): StoreError | null {
  if (!(error instanceof Error)) return null;
  return error instanceof StoreError ? error : storeErrorIn(error.cause);
}
