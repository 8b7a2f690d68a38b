import type { Transaction } from "kysely";
import type { JobRun, Subject } from "../../../contract/generated/resources.ts";
import { fromText, type JsonText, toText } from "../../database/json-text.ts";
import type { ResourceRow, Stored, Tables } from "../../database/tables.ts";
import type { DeploymentRow } from "../application/rows.ts";

declare module "../../database/tables.ts" {
  interface Tables {
    readonly job_runs: ResourceRow<JobRun> & {
      readonly job_id: string;
      readonly deployment_id: string;
      readonly name: string;
      /** When the run is due again, in epoch milliseconds; null when it has ended. */
      readonly look_at: number | null;
    };
    /** Who triggers a run after a deployment; the row is deleted when the deployment has ended. */
    readonly job_triggers: {
      readonly deployment_id: string;
      readonly principal: string;
      readonly subject: JsonText<Subject>;
    };
  }
}

/** Who triggers a run after a deployment. */
export type RunTrigger = { readonly name: string; readonly subject: Subject };

/** Stores that a run starts after the deployment. */
export async function insertTrigger(
  transaction: Transaction<Tables>,
  deploymentId: string,
  { name, subject }: RunTrigger,
): Promise<void> {
  await transaction
    .insertInto("job_triggers")
    .values({ deployment_id: deploymentId, principal: name, subject: toText(subject) })
    .execute();
}

/** Deletes the trigger of a deployment and returns it; null when there is none. */
export async function deleteTrigger(
  transaction: Transaction<Tables>,
  deploymentId: string,
): Promise<RunTrigger | null> {
  const row = await transaction
    .selectFrom("job_triggers")
    .select(["principal", "subject"])
    .where("deployment_id", "=", deploymentId)
    .executeTakeFirst();
  if (row === undefined) return null;
  await transaction.deleteFrom("job_triggers").where("deployment_id", "=", deploymentId).execute();
  return { name: row.principal, subject: fromText(row.subject) };
}

/** Inserts a new run of a deployment; `dueAt` is when it is due again. */
export async function insertRun(
  transaction: Transaction<Tables>,
  { id: deploymentId, applicationId }: Stored<DeploymentRow>,
  { id, run }: { readonly id: string; readonly run: JobRun },
  dueAt: number | null,
): Promise<void> {
  const created_at = new Date(run.createdAt).toISOString();
  await transaction
    .insertInto("job_runs")
    .values({
      id,
      created_at,
      json: toText(run),
      job_id: applicationId ?? "",
      deployment_id: deploymentId,
      name: run.name,
      look_at: whole(dueAt),
    })
    .execute();
}

/** Updates a run, unless it was changed since it was read. */
export async function updateRun(
  transaction: Transaction<Tables>,
  seen: { readonly id: string; readonly run: JobRun },
  run: JobRun,
  dueAt: number | null,
): Promise<void> {
  await transaction
    .updateTable("job_runs")
    .set({ json: toText(run), look_at: whole(dueAt) })
    .where("id", "=", seen.id)
    .where("json", "=", toText(seen.run))
    .execute();
}

function whole(moment: number | null): number | null {
  return moment === null ? null : Math.ceil(moment);
}
