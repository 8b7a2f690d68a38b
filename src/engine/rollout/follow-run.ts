import { ClientError, type FailureReason } from "../../client/client-error.ts";
import type { Reader } from "../../client/reader.ts";
import type { JobRun } from "../../contract/generated/resources.ts";
import type { RolloutState } from "../../contract/rollout-state.ts";
import type { RolloutResult } from "../../core/report/report.ts";
import { type Following, pollUntilEnd } from "./poll-until-end.ts";

/** The run started by the deployment of a job's version. */
export type DeployedRun = { readonly jobId: string; readonly name: string; readonly version: number };

/** Follows a run through `getJobRun` until it ends or times out. */
export async function followRun(
  reader: Reader,
  { jobId, name, version }: DeployedRun,
  following: Following,
): Promise<Exclude<RolloutResult, null>> {
  const { signal } = following;
  // Control planes with this interface name the first run of a version this way.
  let runName = `${name}-${version}-1`;
  return pollUntilEnd(async () => {
    const run =
      (await readRun(reader, { jobId, jobRunName: runName }, signal)) ??
      (await findRun(reader, jobId, version, signal));
    if (run === undefined) return { status: "", state: "progressing" };
    runName = run.name;
    return { status: run.status, state: runState(run.status) };
  }, following);
}

async function readRun(
  reader: Reader,
  path: { readonly jobId: string; readonly jobRunName: string },
  signal: AbortSignal,
): Promise<JobRun | undefined> {
  return unless("not-found", () => reader.get("getJobRun", { path }, { signal }));
}

// A control plane may name runs differently; its list of runs, if it has one, shows the name.
async function findRun(
  reader: Reader,
  jobId: string,
  version: number,
  signal: AbortSignal,
): Promise<JobRun | undefined> {
  const page = await unless("route-missing", () => reader.page("listJobRuns", { path: { jobId } }, { signal }));
  return page?.rows.find(({ deploymentVersion }) => deploymentVersion === String(version));
}

async function unless<Reply>(reason: FailureReason, request: () => Promise<Reply>): Promise<Reply | undefined> {
  try {
    return await request();
  } catch (error) {
    if (error instanceof ClientError && error.reason === reason) return undefined;
    throw error;
  }
}

// A run with an unknown status counts as progressing.
function runState(status: string): RolloutState {
  if (status === "FINISHED") return "succeeded";
  return status === "FAILED" || status === "TERMINATED" ? "failed" : "progressing";
}
