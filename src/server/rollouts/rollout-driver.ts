import type { RolloutFailures } from "../../contract/generated/resources.ts";
import { isObject, type JsonObject } from "../../contract/json.ts";

/** A rollout in progress. */
export type DriverRollout = {
  readonly deploymentId: string;
  /** `cluster:workspace:application:version`. */
  readonly fqn: string;
  readonly manifest: JsonObject;
  /** Its current status. */
  readonly status: string;
  /** How many statuses it has had. */
  readonly statuses: number;
  /** When it began, in epoch milliseconds. */
  readonly startedAt: number;
};

/** A status that a rollout has reached. */
export type RolloutStatus = {
  readonly status: string;
  readonly transition: string;
  readonly message: string | undefined;
  readonly display: string;
  readonly isTerminalState: boolean;
};

/** The progress of a rollout. */
export type RolloutObservation = {
  /** The statuses that it has reached since, in order. */
  readonly progress: readonly RolloutStatus[];
  /** When to observe it again, in epoch milliseconds; null when it has ended. */
  readonly dueAt: number | null;
};

/** How some simulated rollouts fail. */
export type FailureRule = RolloutFailures["failures"][number];

/** Rolls out deployments. It is polled for the progress of each. */
export type RolloutDriver = {
  /** How a rollout begins. It starts nothing, since the deployment can still be undone. */
  readonly begin: (rollout: DriverRollout, now: number) => RolloutObservation;
  readonly observe: (rollout: DriverRollout, now: number) => Promise<RolloutObservation>;
  /** Replaces the failures that callers have set; absent where rollouts are not simulated. */
  readonly setFailures?: (rules: readonly FailureRule[]) => void;
  /** The programs of rollouts that this process runs. */
  readonly programs?: {
    /** The ids of their deployments: these are observed here alone, before they are due. */
    readonly deployments: () => readonly string[];
    /** Ends the program of a deployment that is not in progress any more. */
    readonly end: (deploymentId: string) => void;
    /** Ends all of them; a later process starts them again. */
    readonly close: () => Promise<void>;
  };
};

/** What the reference says of rollouts. */
export const rolloutNotes = {
  simulated:
    "This server simulates rollouts and runs of jobs: their statuses follow each other in real time, and no cluster runs anything.",
  program:
    "This server hands rollouts to a program of its operator. It simulates runs of jobs: their statuses follow each other in real time, and no cluster runs anything.",
} as const;

const texts = {
  INITIALIZED: { transition: "DEPLOYING", display: "Initialized" },
  BUILDING: { transition: "BUILDING", display: "Building" },
  BUILD_SUCCESS: { transition: "DEPLOYING", display: "Built" },
  BUILD_FAILED: { transition: "", display: "Build failed" },
  ROLLOUT_STARTED: { transition: "DEPLOYING", display: "Rolling out" },
  SET_TRAFFIC: { transition: "DEPLOYING", display: "Moving traffic" },
  DEPLOY_SUCCESS: { transition: "", display: "Deployed" },
  DEPLOY_FAILED: { transition: "", display: "Failed" },
} as const;

/** The name of a status that a driver can tell. */
export type StatusName = keyof typeof texts;

/** Whether a text is the name of a status that a driver can tell. */
export function isStatusName(text: unknown): text is StatusName {
  return typeof text === "string" && Object.hasOwn(texts, text);
}

/** The names of these statuses. */
export const statusNames: readonly string[] = Object.keys(texts);

/** The status of this name in a rollout of this manifest; those without a transition end it. */
export function rolloutStatus(status: StatusName, message: string | undefined, manifest: JsonObject): RolloutStatus {
  const { transition, display } = texts[status];
  const isBefore = status === "INITIALIZED" && isBuiltImage(manifest);
  return {
    status,
    transition: isBefore ? "BUILDING" : transition,
    message,
    display,
    isTerminalState: transition === "",
  };
}

/** Whether the image is built from sources. */
export function isBuiltImage({ image }: JsonObject): boolean {
  return isObject(image) && image.type === "build";
}
