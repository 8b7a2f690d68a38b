import { ClientError } from "../../client/client-error.ts";
import type { Stop } from "../../clock/clock.ts";
import type { Json } from "../../contract/json.ts";
import { readRow } from "../../core/kind.ts";
import { type Identity, splitIdentity } from "../../core/manifest.ts";
import { kindOf } from "../../kinds/index.ts";
import type { GateRegistry } from "./gate-access.ts";

type Reading = Stop & { readonly registry: GateRegistry };

/** The runs of a job, as the control plane returns them; a text where they cannot be read, which says why. */
export async function jobRuns(job: Identity, reading: Reading): Promise<readonly Json[] | string> {
  const { key } = splitIdentity(job);
  const { id, isListed } = await findJob(job, reading);
  if (id === null && !isListed)
    return `it cannot be told: that control plane has no list of jobs, and this target has not recorded ${job}`;
  if (id === null) return `the job ${job} does not exist on that control plane, or this token cannot see it`;
  const { reader } = reading.registry;
  const listed = await unlessMissing(() => reader.list("listJobRuns", { path: { jobId: id } }, reading));
  if (listed !== null) return listed as unknown as readonly Json[];
  return runsByName(id, key.slice(key.indexOf("/") + 1), reading);
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
  id: string,
  name: string,
  { registry: { reader }, signal }: Reading,
): Promise<readonly Json[] | string> {
  const { rows } = await reader.page("listDeployments", { path: { id }, limit: MOST.deployments }, { signal });
  const found: Json[] = [];
  for (const { version } of rows) {
    for (let nth = 1; ; nth += 1) {
      // The newest would be missing.
      if (nth > MOST.runs)
        return `it cannot be told: a version of ${name} has more than ${MOST.runs - 1} runs, and no list`;
      const path = { jobId: id, jobRunName: `${name}-${version}-${nth}` };
      const run = await unlessMissing(() => reader.get("getJobRun", { path }, { signal }));
      if (run === null) break;
      found.push(run as unknown as Json);
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
