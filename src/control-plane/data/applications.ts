import type { Kysely, Transaction } from "kysely";
import { fromText, toText } from "../json-text.ts";
import type { KeptApplication, KeptDeployment, Tables } from "./tables.ts";

/** A deployment that is kept, and so has an id. */
export type Deployed = KeptDeployment & { readonly id: string };

/** An application, and its newest deployment while that is in progress. */
export type FoundApplication = { readonly application: KeptApplication; readonly underWay: Deployed | null };

/** The application of that fqn, visible or not. */
export async function findApplication(database: Kysely<Tables>, fqn: string): Promise<FoundApplication | null> {
  const found = await database
    .selectFrom("applications as a")
    .leftJoin("deployments as d", (join) => join.onRef("d.id", "=", "a.last_deployment_id").on("d.is_over", "=", 0))
    .select(["a.json as application", "d.json as deployment", "d.id as id"])
    .where("a.fqn", "=", fqn)
    .executeTakeFirst();
  if (found === undefined) return null;
  const { application, deployment, id } = found;
  const underWay = deployment === null || id === null ? null : { ...fromText(deployment), id };
  return { application: fromText(application), underWay };
}

/** The application of that id, visible or not. */
export async function findApplicationById(database: Kysely<Tables>, id: string): Promise<KeptApplication | null> {
  const row = await database.selectFrom("applications").select("json").where("id", "=", id).executeTakeFirst();
  return row === undefined ? null : fromText(row.json);
}

/** Keeps an application, new or changed. */
export async function saveApplication(transaction: Transaction<Tables>, application: KeptApplication): Promise<void> {
  const { id, createdAt, fqn, name, type, workspaceId, lastDeploymentId, activeDeploymentId } = application;
  const changing = {
    json: toText(application),
    last_deployment_id: lastDeploymentId ?? "",
    active_deployment_id: activeDeploymentId,
  };
  await transaction
    .insertInto("applications")
    .values({ id, created_at: createdAt, fqn, name, type, workspace_id: workspaceId, ...changing })
    .onConflict((conflict) => conflict.column("id").doUpdateSet(changing))
    .execute();
}

/** Keeps a deployment, new or changed; `lookAt` is when its rollout is to be looked at again. */
export async function saveDeployment(
  transaction: Transaction<Tables>,
  deployment: Deployed,
  lookAt: number | null,
): Promise<void> {
  const { id, createdAt, applicationId, version, currentStatus } = deployment;
  const isOver = currentStatus?.state.isTerminalState ?? false;
  const look = isOver || lookAt === null ? null : Math.ceil(lookAt);
  const changing = { json: toText(deployment), is_over: isOver ? 1 : 0, look_at: look };
  await transaction
    .insertInto("deployments")
    .values({ id, created_at: createdAt, application_id: applicationId ?? "", version, ...changing })
    .onConflict((conflict) => conflict.column("id").doUpdateSet(changing))
    .execute();
}
