import type { Kysely } from "kysely";
import { notFound } from "../../../http/http-error.ts";
import { isAllowed } from "../../auth/access.ts";
import type { Principal } from "../../auth/principal.ts";
import type { Context } from "../../context.ts";
import { advanceDueRows } from "../../database/advance-due-rows.ts";
import { fromText } from "../../database/json-text.ts";
import { selectPage } from "../../database/select-page.ts";
import type { Tables } from "../../database/tables.ts";
import { defineOperation } from "../../http/define-operation.ts";
import type { Handler } from "../../http/operation-call.ts";
import type { ResourceDefinition } from "../../resource.ts";
import { findApplicationById } from "../application/rows.ts";
import { hasRuns, toDriverRun, withState } from "./job-run.ts";
import { updateRun } from "./rows.ts";

const getJobRun: Handler<"getJobRun"> = async ({ principal, path }, { store }) => {
  await visibleJob(store.read, principal, path.jobId);
  const row = await runsOf(store.read, path.jobId)
    .select("json")
    .where("name", "=", path.jobRunName)
    .executeTakeFirst();
  if (row === undefined) throw notFound("the run");
  return { data: row.json };
};

const listJobRuns: Handler<"listJobRuns"> = async (call, { store }) => {
  await visibleJob(store.read, call.principal, call.path.jobId);
  return selectPage(runsOf(store.read, call.path.jobId).select("json"), call.page);
};

/** The operations on runs of jobs: 9 and E9. */
export const resource: ResourceDefinition = {
  section: { name: "Job runs", description: "Runs of applications of type `job`." },
  operations: [
    defineOperation("getJobRun", getJobRun, {
      description: "`jobId` is the id of the application.",
      replySchema: "JobRun",
      parameters: {
        jobId: { description: "Id of the job's application", example: "019aa2c4-7f5e-7c3b-9d1e-4b8a52f0c6d1" },
        jobRunName: { description: "Name of the run", example: "nightly-3-1" },
      },
    }),
    defineOperation("listJobRuns", listJobRuns, {
      description: "Newest first.",
      replySchema: "JobRun",
      parameters: {
        jobId: { description: "Id of the job's application", example: "019aa2c4-7f5e-7c3b-9d1e-4b8a52f0c6d1" },
      },
    }),
  ],
  advance: advanceRuns,
};

const AT_ONCE = 100;

async function visibleJob(database: Kysely<Tables>, principal: Principal, id: string): Promise<void> {
  const job = await findApplicationById(database, id);
  const isVisible = job !== null && isAllowed(principal, "read", { type: "workspace", fqn: job.workspaceFqn });
  if (!isVisible || !hasRuns(job.type)) throw notFound("the job");
}

function runsOf(database: Kysely<Tables>, jobId: string) {
  return database.selectFrom("job_runs").where("job_id", "=", jobId);
}

/**
 * Asks the driver for the progress of every run that is due, and stores it. Returns when the next one is due, in epoch
 * milliseconds; null when no run is in progress.
 */
function advanceRuns(context: Context): Promise<number | null> {
  const { store, clock, runs } = context;
  return advanceDueRows(context, "job_runs", dueRuns, async ({ id, run: text, deployment }) => {
    const run = fromText(text);
    const { state, dueAt } = await runs.observe(toDriverRun(run, fromText(deployment)), clock.now());
    await store.write((transaction) => updateRun(transaction, { id, run }, withState(run, state), dueAt));
  });
}

function dueRuns(database: Kysely<Tables>, now: number) {
  return database
    .selectFrom("job_runs as r")
    .innerJoin("deployments as d", "d.id", "r.deployment_id")
    .select(["r.id as id", "r.json as run", "d.json as deployment"])
    .where("r.look_at", "<=", now)
    .orderBy("r.look_at")
    .limit(AT_ONCE)
    .execute();
}
