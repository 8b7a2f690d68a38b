import type { Application, Recommendation } from "../../../contract/generated/resources.ts";
import { isObject, type Json, type JsonObject } from "../../../contract/json.ts";

type Problem = Application["potentialProblems"][number];

// With a larger ratio of limit to request, a busy node throttles or kills the container.
const MAX_LIMIT_RATIO = 4;

/** Problems that a manifest is likely to cause. */
export function potentialProblems(manifest: JsonObject): readonly Problem[] {
  return [
    ...(hasProbe(manifest, "liveness_probe") ? [] : [problem("no-liveness-probe", "A hung replica is not restarted.")]),
    ...(hasProbe(manifest, "readiness_probe")
      ? []
      : [problem("no-readiness-probe", "Traffic reaches a replica before it is ready.")]),
    ...(manifest.replicas === 1
      ? [problem("one-replica", "A restart of its only replica interrupts the service.")]
      : []),
    ...(Array.isArray(manifest.alerts) && manifest.alerts.length > 0
      ? [problem("no-notifications", "Its alerts reach nobody: this control plane sends no notifications.")]
      : []),
    ...(isObject(manifest.resources) ? [] : [problem("no-resources", "Nothing is requested, so nothing is reserved.")]),
  ];
}

/** The problem of a failed newest version: another one is still active. */
export function failedProblem(version: number, activeVersion: number | undefined): Problem {
  const instead = activeVersion === undefined ? "no version is active" : `version ${activeVersion} is still active`;
  return problem("rollout-failed", `Version ${version} was not rolled out; ${instead}.`);
}

function hasProbe(manifest: JsonObject, name: string): boolean {
  // Only services have probes.
  return manifest.type !== "service" || isObject(manifest[name]);
}

function problem(name: string, description: string): Problem {
  return { name, description };
}

/** Recommendations for a manifest: requests closer to their limits. */
export function proposeRecommendations({ resources }: JsonObject) {
  if (!isObject(resources)) return [];
  return (["cpu", "memory"] as const).flatMap((name) => {
    const request = resources[`${name}_request`];
    const limit = resources[`${name}_limit`];
    if (!isFarOver(limit, request)) return [];
    const proposed = Number(limit) / MAX_LIMIT_RATIO;
    return [
      {
        recommendationType: `${name}-request`,
        recommendationData: { path: `/resources/${name}_request`, current: request ?? null, proposed },
      },
    ];
  });
}

/** Whether a manifest has reached the value of a recommendation. */
export function isApplied({ path, proposed }: Recommendation["recommendationData"], manifest: JsonObject): boolean {
  const value = typeof path === "string" ? valueAt(manifest, path) : undefined;
  return typeof value === "number" && typeof proposed === "number" && value >= proposed;
}

function valueAt(manifest: JsonObject, path: string): Json | undefined {
  const names = path.split("/").slice(1);
  return names.reduce<Json | undefined>((value, name) => (isObject(value) ? value[name] : undefined), manifest);
}

function isFarOver(limit: Json | undefined, request: Json | undefined): boolean {
  return typeof limit === "number" && typeof request === "number" && limit > request * MAX_LIMIT_RATIO;
}
