import type { Readiness } from "../../http/health.ts";
import { StoreError } from "../../store/store-error.ts";
import type { PassObserver } from "../pass-observer.ts";

/** The readiness of a daemon: whether the process works, whatever its passes come to. */
export type DaemonReadiness = {
  /** Observes the passes of a target, which has begun. */
  readonly observe: (target: string) => PassObserver;
  /** Drops all targets except these. */
  readonly keep: (targets: readonly string[]) => void;
  readonly now: () => Readiness;
};

type TargetState = "begun" | "standing-by" | "state-full" | "state-unavailable";

/** Creates the readiness of a daemon that has begun no target yet. */
export function createReadiness({
  isStateLost = () => null,
}: {
  /** Whether the database of the state does not answer; null where none is watched. */
  readonly isStateLost?: () => boolean | null;
} = {}): DaemonReadiness {
  const states = new Map<string, TargetState>();
  return {
    now: () => (isStateLost() ? STATE_LOST : readinessOf([...states.values()])),
    keep: (targets) => {
      for (const target of states.keys()) if (!targets.includes(target)) states.delete(target);
    },
    observe: (target) => {
      states.set(target, states.get(target) ?? "begun");
      return {
        emit: (event) => {
          if (["applied", "planned", "taking-over"].includes(event.what)) states.set(target, "begun");
          if (event.what === "standing-by") states.set(target, "standing-by");
        },
        failure: (error) => {
          const fault = storeErrorIn(error);
          // The next pass of the target may run in another process, and this one would never be ready again.
          if (fault?.code === "unreachable" && isStateLost() !== null) return;
          if (fault !== null) states.set(target, fault.code === "full" ? "state-full" : "state-unavailable");
          else if (states.get(target) === "standing-by") states.set(target, "begun");
        },
      };
    },
  };
}

const STATE_LOST: Readiness = { is: "not-ready", reason: "state-unavailable" };

function readinessOf(states: readonly TargetState[]): Readiness {
  if (states.length === 0) return { is: "not-ready", reason: "starting" };
  // Without its state the daemon can do nothing for the target, and neither can another process on the same volume.
  const fault = states.find((state) => state === "state-full" || state === "state-unavailable");
  if (fault !== undefined) return { is: "not-ready", reason: fault };
  return { is: states.includes("standing-by") ? "standing-by" : "ready" };
}

function storeErrorIn(error: unknown): StoreError | null {
  if (!(error instanceof Error)) return null;
  return error instanceof StoreError ? error : storeErrorIn(error.cause);
}
