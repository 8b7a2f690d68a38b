import type { Application } from "../../../contract/generated/resources.ts";
import { isObject, type JsonObject } from "../../../contract/json.ts";

type Problem = Application["potentialProblems"][number];

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
