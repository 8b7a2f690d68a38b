import { ClientError } from "../client/client-error.ts";
import type { Reader } from "../client/reader.ts";
import type { Stop } from "../clock/clock.ts";
import type { JobRun } from "../contract/generated/resources.ts";
import type { Json } from "../contract/json.ts";
import { runState } from "../contract/rollout-state.ts";
import { readRow } from "../core/kind.ts";
import { type Identity, splitIdentity } from "../core/manifest.ts";
import { kindOf } from "../kinds/index.ts";
import { type Following, type PollEnd, pollUntilEnd } from "./poll-until-end.ts";

/** Where jobs and their runs are read. */
export type JobRegistry = {
  readonly reader: Reader;
  /** The id of an application in the ledger, for a control plane that lists none; null if it is not recorded. */
  readonly recordedId: (identity: Identity) => string | null;
};

type Reading = Stop & { readonly registry: JobRegistry };

/** The runs of a job, as the control plane returns them; a text where they cannot be read, which says why. */
export async function jobRuns(job: Identity, reading: Reading): Promise<readonly Json[] | string> {
  const id = await jobPath(job, reading);
  if (typeof id === "string") return id;
  const { reader } = reading.registry;
  const listed = await unlessMissing(() => reader.list("listJobRuns", { path: id }, reading));
  if (listed !== null) return listed as unknown as readonly Json[];
  return (await runsByName(job, id, reading)) as unknown as readonly Json[] | string;
}

/** The newest runs of a job, newest first, and whether older ones are left out; a text where they cannot be read. */
export async function newestRuns(
  job: Identity,
  limit: number,
  reading: Reading,
): Promise<(JobPath & { readonly runs: readonly JobRun[]; readonly isCut: boolean }) | string> {
  const id = await jobPath(job, reading);
  if (typeof id === "string") return id;
  const { reader } = reading.registry;
  const page = await unlessMissing(() => reader.page("listJobRuns", { path: id, limit }, reading));
  if (page !== null) return { ...id, runs: page.rows, isCut: page.total > page.rows.length };
  const named = await runsByName(job, id, reading);
  if (typeof named === "string") return named;
  const runs = named.toSorted((one, other) => other.createdAt - one.createdAt).slice(0, limit);
  // Runs of earlier versions, and those with other names, are not looked for.
  return { ...id, runs, isCut: true };
}

/** The path of a job in requests about its runs. */
export type JobPath = { readonly jobId: string };

/** The id of a job; a text where it is not found, which says why. */
export async function jobPath(job: Identity, reading: Reading): Promise<JobPath | string> {
  const { id, isListed } = await findJob(job, reading);
  if (id === null && !isListed)
    return `it cannot be told: that control plane has no list of jobs, and this target has not recorded ${job}`;
  if (id === null) return `the job ${job} does not exist on that control plane, or this token cannot see it`;
  return { jobId: id };
}

/** A run that was followed: how that ended, and the run as it was read last; null if it never existed. */
export type FollowedRun = { readonly ended: PollEnd; readonly last: JobRun | null };

/** Follows a run through `getJobRun` until it ends or times out. */
export function followRun(
  reader: Reader,
  path: JobPath & { readonly jobRunName: string },
  following: Following,
): Promise<FollowedRun> {
  return followRead(async () => unlessMissing(() => reader.get("getJobRun", { path }, following)), following);
}

/** The run started by the deployment of a job's version. */
export type DeployedRun = JobPath & { readonly name: string; readonly version: number };

/** Follows the run that a deployment starts until it ends or times out. */
export function followDeployedRun(
  reader: Reader,
  { jobId, name, version }: DeployedRun,
  following: Following,
): Promise<FollowedRun> {
  // Control planes with this interface name the first run of a version this way.
  let jobRunName = `${name}-${version}-1`;
  const listed = async (): Promise<JobRun | null> => {
    const page = await unlessMissing(() => reader.page("listJobRuns", { path: { jobId } }, following));
    return page?.rows.find(({ deploymentVersion }) => deploymentVersion === String(version)) ?? null;
  };
  return followRead(async () => {
    const path = { jobId, jobRunName };
    // One that names runs differently shows the name in its list, if it has one.
    const run = (await unlessMissing(() => reader.get("getJobRun", { path }, following))) ?? (await listed());
    if (run !== null) jobRunName = run.name;
    return run;
  }, following);
}

async function followRead(read: () => Promise<JobRun | null>, following: Following): Promise<FollowedRun> {
  let last: JobRun | null = null;
  const ended = await pollUntilEnd(async () => {
    last = await read();
    // A run with an unknown status counts as progressing.
    return { status: last?.status ?? "", state: last === null ? "progressing" : runState(last.status) };
  }, following);
  return { ended, last };
}

type FoundJob = { readonly id: string | null; readonly isListed: boolean };

async function findJob(job: Identity, { registry, signal }: Reading): Promise<FoundJob> {
  const { kind: type, key } = splitIdentity(job);
  const recorded = { id: registry.recordedId(job), isListed: false };
  const list = kindOf(type)?.list;
  if (list === undefined) return recorded;
  const query = { ...list.query, ...list.narrow?.(key) };
  const replies = await unlessMissing(() => registry.reader.list(list.operation, { query }, { signal }));
  if (replies === null) return recorded;
  for (const reply of replies) {
    const row = readRow(list, reply);
    if (row?.key === key) return { id: row.id, isListed: true };
  }
  return { id: null, isListed: true };
}

/** The newest deployments whose runs are looked up by name, and the runs of each. */
const MOST = { deployments: 3, runs: 100 };

// Without a list of runs (E9), operation 9 reads those that have the usual names.
async function runsByName(
  job: Identity,
  { jobId }: JobPath,
  { registry: { reader }, signal }: Reading,
): Promise<readonly JobRun[] | string> {
  const { key } = splitIdentity(job);
  const name = key.slice(key.indexOf("/") + 1);
  const { rows } = await reader.page("listDeployments", { path: { id: jobId }, limit: MOST.deployments }, { signal });
  const found: JobRun[] = [];
  for (const { version } of rows) {
    for (let nth = 1; ; nth += 1) {
      // The newest would be missing.
      if (nth > MOST.runs)
        return `it cannot be told: a version of ${name} has more than ${MOST.runs - 1} runs, and no list`;
      const path = { jobId, jobRunName: `${name}-${version}-${nth}` };
      const run = await unlessMissing(() => reader.get("getJobRun", { path }, { signal }));
      if (run === null) break;
      found.push(run);
    }
  }
  return found;
}

async function unlessMissing<Reply>(request: () => Promise<Reply>): Promise<Reply | null> {
  try {
    return await request();
  } catch (error) {
    const isMissing =
      error instanceof ClientError && (error.reason === "route-missing" || error.reason === "not-found");
    if (isMissing) return null;
    throw error;
  }
}
