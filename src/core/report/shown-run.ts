import type { JobRun } from "../../contract/generated/resources.ts";
import { runTimes } from "../run-times.ts";
import type { ShownRun } from "./report.ts";

/** A run of a job as reports show it. */
export function shownRun(run: JobRun): ShownRun {
  const { name, deploymentVersion, status, triggeredBy, exitCode, error } = run;
  const { began, ended } = runTimes(run);
  return {
    name,
    version: deploymentVersion,
    status,
    began: timeText(began),
    ended: ended === null ? null : timeText(ended),
    triggeredBy: triggeredBy || null,
    exitCode: exitCode ?? null,
    error: error || null,
  };
}

function timeText(ms: number): string | null {
  const time = new Date(ms);
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}
