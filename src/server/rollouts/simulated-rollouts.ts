import type { JsonObject } from "../../contract/json.ts";
import { globMatcher } from "../../model/glob.ts";
import {
  type DriverRollout,
  type FailureRule,
  isBuiltImage,
  type RolloutDriver,
  type RolloutObservation,
  rolloutStatus,
  type StatusName,
} from "./rollout-driver.ts";

/** How a rollout fails. */
export type RolloutFailure = FailureRule["failure"];

/** How a rollout fails, and after how many seconds: by default at the usual time. */
type Failing = Omit<FailureRule, "match">;

/** A status, and when it is reached, in milliseconds after the beginning. */
type Stop = { readonly status: StatusName; readonly after: number; readonly message?: string };

// A rollout that is stuck is looked at once a day, and whenever its failure is taken away.
const DAY = 24 * 60 * 60 * 1000;

const SIMULATED = "simulated: no cluster runs it";

/** A driver that runs nothing: it goes through the statuses of a build and a rollout in real time. */
export function createSimulatedRollouts({
  seconds,
  rules = [],
  failures = () => null,
}: {
  /** The duration of a rollout; 0 ends it at once. */
  readonly seconds: number;
  /** Which rollouts fail; the first rule that matches counts, and those that callers set come before. @default none */
  readonly rules?: readonly FailureRule[];
  /** Which others fail, for tests. @default none */
  readonly failures?: (rollout: DriverRollout) => RolloutFailure | null;
}): RolloutDriver {
  let inForce = compiled(rules);
  const failureOf = (rollout: DriverRollout): Failing | null => {
    const identity = identityOf(rollout);
    const rule = inForce.find(({ matches }) => matches(identity))?.rule;
    if (rule !== undefined) return rule;
    const failure = failures(rollout);
    return failure === null ? null : { failure };
  };
  const observation = (rollout: DriverRollout, now: number): RolloutObservation => {
    const failure = failureOf(rollout);
    const failing = routeOf(rollout.manifest, failure, seconds * 1000);
    // It is beyond the point at which it was to fail, as when the failure was set in the meantime.
    const isBeyond = rollout.status !== "" && !failing.some(({ status }) => status === rollout.status);
    const route = isBeyond ? routeOf(rollout.manifest, null, seconds * 1000) : failing;
    const ahead = route.slice(route.findIndex(({ status }) => status === rollout.status) + 1);
    const timeOf = ({ after }: Stop) => rollout.startedAt + after;
    const next = ahead.find((stop) => timeOf(stop) > now);
    const isStuck = failure?.failure === "stuck" && failure.afterSeconds === undefined;
    return {
      progress: ahead
        .filter((stop) => timeOf(stop) <= now)
        .map(({ status, message }) => rolloutStatus(status, message, rollout.manifest)),
      dueAt: next === undefined ? (isStuck ? now + DAY : null) : timeOf(next),
    };
  };
  return {
    begin: observation,
    observe: async (rollout, now) => observation(rollout, now),
    setFailures: (set) => {
      inForce = compiled([...set, ...rules]);
    },
  };
}

function compiled(rules: readonly FailureRule[]) {
  return rules.map((rule) => ({ rule, matches: globMatcher(rule.match) }));
}

/** The identity of the application, as `service/c1:ws1/api`. */
function identityOf({ fqn, manifest }: DriverRollout): string {
  const [cluster, workspace, name] = fqn.split(":");
  return `${manifest.type}/${cluster}:${workspace}/${name}`;
}

/** The statuses of a rollout; those of a build only when an image is built. */
function routeOf(manifest: JsonObject, failure: Failing | null, span: number): readonly Stop[] {
  const after = failure?.afterSeconds === undefined ? null : failure.afterSeconds * 1000;
  const isBuilt = isBuiltImage(manifest);
  const begin: readonly Stop[] = [{ status: "INITIALIZED", after: 0, message: SIMULATED }];
  const building: readonly Stop[] = isBuilt ? [...begin, { status: "BUILDING", after: 0.1 * span }] : begin;
  const buildEnd = after ?? 0.5 * span;
  if (failure?.failure === "build" && isBuilt)
    return upTo(building, { status: "BUILD_FAILED", after: buildEnd, message: "simulated: the build failed" });
  const built: readonly Stop[] = isBuilt ? [...building, { status: "BUILD_SUCCESS", after: 0.5 * span }] : building;
  const rolling: readonly Stop[] = [...built, { status: "ROLLOUT_STARTED", after: (isBuilt ? 0.6 : 0.1) * span }];
  switch (failure?.failure) {
    case "deploy":
      return upTo(rolling, {
        status: "DEPLOY_FAILED",
        after: after ?? span,
        message: "simulated: the rollout failed",
      });
    case "stuck":
      return after === null ? rolling : [...rolling, deployed(Math.max(after, span))];
    default:
      return [...rolling, deployed(span)];
  }
}

function deployed(after: number): Stop {
  return { status: "DEPLOY_SUCCESS", after, message: SIMULATED };
}

// What comes later than the failure is reached with it, so that a build never fails before it has begun.
function upTo(stops: readonly Stop[], end: Stop): readonly Stop[] {
  return [...stops.map((stop) => ({ ...stop, after: Math.min(stop.after, end.after) })), end];
}
