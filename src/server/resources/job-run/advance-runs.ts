import type { Kysely } from "kysely";
import type { Context } from "../../context.ts";
import { claimDueRows } from "../../database/claim-due-rows.ts";
import { fromText } from "../../database/json-text.ts";
import type { Tables } from "../../database/tables.ts";
import { toDriverRun, withState } from "./job-run.ts";
import { updateRun } from "./rows.ts";

const AT_ONCE = 100;

/**
 * Asks the driver for the progress of every run that is due, and stores it. Returns when the next one is due, in epoch
 * milliseconds; null when no run is in progress.
 */
export async function advanceRuns(context: Context): Promise<number | null> {
  const { store, now, runs } = context;
  const due = await claimDueRows(context, "job_runs", dueRuns);
  await Promise.all(
    due.map(async ({ id, run: text, deployment }) => {
      const run = fromText(text);
      const { state, dueAt } = await runs.observe(toDriverRun(run, fromText(deployment)), now());
      await store.write((transaction) => updateRun(transaction, { id, run }, withState(run, state), dueAt));
    }),
  );
  const { next } = await store.read
    .selectFrom("job_runs")
    .select(({ fn }) => fn.min("look_at").as("next"))
    .executeTakeFirstOrThrow();
  return next === null ? null : Number(next);
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
