import { isObject, type JsonObject } from "../../contract/json.ts";
import type { DriverRollout, RolloutDriver, RolloutObservation, RolloutStatus } from "./rollout-driver.ts";

/** How a rollout fails. */
export type RolloutFailure = "build" | "deploy" | "stuck";

/** A status, and the fraction of the duration after which it is reached. */
type Stop = RolloutStatus & { readonly after: number };

/** A driver that runs nothing: it goes through the statuses of a build and a rollout in real time. */
export function createSimulatedRollouts({
  seconds,
  failures = () => null,
}: {
  /** The duration of a rollout; 0 ends it at once. */
  readonly seconds: number;
  /** Which rollouts fail, for tests. @default none */
  readonly failures?: (rollout: DriverRollout) => RolloutFailure | null;
}): RolloutDriver {
  const span = seconds * 1000;
  return {
    begin: (manifest) => progressOf(routeOf(manifest, null)[0] ?? deployed),
    observe: async (rollout, now) => observe(routeOf(rollout.manifest, failures(rollout)), span, rollout, now),
  };
}

function observe(route: readonly Stop[], span: number, rollout: DriverRollout, now: number): RolloutObservation {
  const ahead = route.slice(route.findIndex(({ status }) => status === rollout.status) + 1);
  const timeOf = ({ after }: Stop) => rollout.startedAt + after * span;
  const next = ahead.find((stop) => timeOf(stop) > now);
  return {
    progress: ahead.filter((stop) => timeOf(stop) <= now).map(progressOf),
    dueAt: next === undefined ? null : timeOf(next),
  };
}

const finals: readonly string[] = ["DEPLOY_SUCCESS", "DEPLOY_FAILED", "BUILD_FAILED"];

const deployed = stop(1, "DEPLOY_SUCCESS", "", "Deployed");

/** The statuses of a rollout; those of a build only when an image is built. */
function routeOf(manifest: JsonObject, failure: RolloutFailure | null): readonly Stop[] {
  const rollout = stop(isBuiltImage(manifest) ? 0.6 : 0.1, "ROLLOUT_STARTED", "DEPLOYING", "Rolling out");
  const build = [
    stop(0, "INITIALIZED", "BUILDING", "Initialized"),
    stop(0.1, "BUILDING", "BUILDING", "Building"),
    failure === "build"
      ? stop(0.5, "BUILD_FAILED", "", "Build failed", "the build failed")
      : stop(0.5, "BUILD_SUCCESS", "DEPLOYING", "Built"),
  ];
  const begin = isBuiltImage(manifest) ? build : [stop(0, "INITIALIZED", "DEPLOYING", "Initialized")];
  switch (failure) {
    case "build":
      return isBuiltImage(manifest) ? begin : [...begin, rollout, deployed];
    case "stuck":
      return [...begin, rollout];
    case "deploy":
      return [...begin, rollout, stop(1, "DEPLOY_FAILED", "", "Failed", "the rollout failed")];
    case null:
      return [...begin, rollout, deployed];
  }
}

/** Whether the image is built from sources. */
export function isBuiltImage({ image }: JsonObject): boolean {
  return isObject(image) && image.type === "build";
}

function stop(after: number, status: string, transition: string, display: string, message?: string): Stop {
  return { after, status, transition, display, message, isTerminalState: finals.includes(status) };
}

function progressOf({ status, transition, display, message, isTerminalState }: Stop): RolloutStatus {
  return { status, transition, display, message, isTerminalState };
}
