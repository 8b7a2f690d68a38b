import { isObject, type Json, type JsonObject } from "../../../contract/json.ts";
import type { Application, Recommendation } from "../../../contract/resources.ts";

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

/** What follows from a newest version that did not come about: live is not what was asked for. */
export function failedProblem(version: number, activeVersion: number | null): Problem {
  const instead = activeVersion === null ? "no version is active" : `version ${activeVersion} is still active`;
  return problem("rollout-failed", `Version ${version} was not rolled out; ${instead}.`);
}

/** A proposal of values, without the ids that it gets when it is kept. */
export type Proposal = Pick<Recommendation, "recommendationType" | "recommendationData">;

// From there on a busy node starves or kills what counts on its limit.
const WIDEST_GAP = 4;

/** What would make a manifest sounder: requests near to their limits. */
export function proposeRecommendations({ resources }: JsonObject): readonly Proposal[] {
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

/** Whether a manifest has come to the value that a recommendation proposed. */
export function isApplied(
  { recommendationData }: Pick<Recommendation, "recommendationData">,
  manifest: JsonObject,
): boolean {
  const { path, proposed } = recommendationData;
  const value = typeof path === "string" ? valueAt(manifest, path) : undefined;
  return typeof value === "number" && typeof proposed === "number" && value >= proposed;
}

function hasProbe(manifest: JsonObject, name: string): boolean {
  // Jobs and the like are not asked whether they live.
  return manifest.type !== "service" || isObject(manifest[name]);
}

function valueAt(manifest: JsonObject, path: string): Json | undefined {
  const names = path.split("/").slice(1);
  return names.reduce<Json | undefined>((value, name) => (isObject(value) ? value[name] : undefined), manifest);
}

function isFarOver(limit: Json | undefined, request: Json | undefined): boolean {
  return typeof limit === "number" && typeof request === "number" && limit > request * WIDEST_GAP;
}

function problem(name: string, description: string): Problem {
  return { name, description };
}
