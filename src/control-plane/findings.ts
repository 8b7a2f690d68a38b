import { isObject, type Json, type JsonObject } from "../contract/json.ts";
import type { Alert, Application, DeploymentStatus, Recommendation } from "../contract/resources.ts";
import { failedStatuses } from "../contract/rollout.ts";

type Problem = Application["potentialProblems"][number];

/** What a manifest makes likely to go wrong. */
export function potentialProblems(manifest: JsonObject): readonly Problem[] {
  return [
    ...(hasProbe(manifest, "liveness_probe") ? [] : [problem("no-liveness-probe", "A hung replica is not restarted.")]),
    ...(hasProbe(manifest, "readiness_probe")
      ? []
      : [problem("no-readiness-probe", "Traffic reaches a replica before it is ready.")]),
    ...(manifest.replicas === 1
      ? [problem("one-replica", "A restart of its only replica interrupts the service.")]
      : []),
    ...(isObject(manifest.resources) ? [] : [problem("no-resources", "Nothing is requested, so nothing is reserved.")]),
  ];
}

/** A proposal of values, without the ids that it gets when it is kept. */
export type Proposal = Pick<Recommendation, "recommendationType" | "recommendationData">;

// From there on a busy node starves or kills what counts on its limit.
const WIDEST_GAP = 4;

/** What would make a manifest sounder: requests near to their limits. */
export function proposals({ resources }: JsonObject): readonly Proposal[] {
  if (!isObject(resources)) return [];
  return (["cpu", "memory"] as const).flatMap((name) => {
    const request = resources[`${name}_request`];
    const limit = resources[`${name}_limit`];
    if (!isFarOver(limit, request)) return [];
    const proposed = Number(limit) / WIDEST_GAP;
    return [
      {
        recommendationType: `${name}-request`,
        recommendationData: { path: `/resources/${name}_request`, current: request ?? null, proposed },
      },
    ];
  });
}

/** The alerts of an application once its newest deployment has come to a status. */
export function alertsAfter(
  alerts: readonly Alert[],
  status: DeploymentStatus,
  application: Pick<Alert, "applicationId" | "clusterId" | "tenantName">,
  newId: () => string,
): readonly Alert[] {
  const now = status.createdAt;
  if (status.status === "DEPLOY_SUCCESS") return alerts.map((alert) => resolved(alert, now));
  // Being cancelled was somebody's wish.
  if (!failedStatuses.includes(status.status) || status.status === "CANCELLED") return alerts;
  const alert: Alert = {
    ...application,
    id: newId(),
    name: status.status === "BUILD_FAILED" ? "BuildFailed" : "RolloutFailed",
    fingerprint: status.deploymentId,
    applicationDebugInfoId: null,
    timestamps: [now],
    startTime: now,
    resolvedTime: null,
    createdAt: now,
    updatedAt: now,
  };
  return [alert, ...alerts].slice(0, KEPT_ALERTS);
}

const KEPT_ALERTS = 20;

/** How many alerts are open, by name. */
export function summaryOf(alerts: readonly Alert[]): JsonObject {
  const open = alerts.filter(({ resolvedTime }) => resolvedTime === null);
  const byName = Map.groupBy(open, ({ name }) => name);
  return { open: open.length, byName: Object.fromEntries(byName.entries().map(([name, all]) => [name, all.length])) };
}

function resolved(alert: Alert, now: string): Alert {
  return alert.resolvedTime === null ? { ...alert, resolvedTime: now, updatedAt: now } : alert;
}

function hasProbe(manifest: JsonObject, name: string): boolean {
  // Jobs and the like are not asked whether they live.
  return manifest.type !== "service" || isObject(manifest[name]);
}

function isFarOver(limit: Json | undefined, request: Json | undefined): boolean {
  return typeof limit === "number" && typeof request === "number" && limit > request * WIDEST_GAP;
}

function problem(name: string, description: string): Problem {
  return { name, description };
}
