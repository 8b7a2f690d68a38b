import type { Kysely, Transaction } from "kysely";
import type { Application, Deployment } from "../../../contract/generated/resources.ts";
import { preparedQuery } from "../../../store/prepared-query.ts";
import { fromText, type JsonText, toText, withMember } from "../../database/json-text.ts";
import { resourceBy, saveIn } from "../../database/resource-rows.ts";
import type { ResourceRow, Stored, Tables } from "../../database/tables.ts";

/** An application, and its newest deployment, also while that is in progress. */
export type FoundApplication = {
  readonly application: ApplicationRow;
  readonly newest: JsonText<Stored<DeploymentRow>> | null;
  readonly underWay: Stored<DeploymentRow> | null;
};

const byFqn = preparedQuery((database: Kysely<Tables>, { fqn }: { readonly fqn: string }) =>
  database
    .selectFrom("applications as a")
    .leftJoin("deployments as d", "d.id", "a.last_deployment_id")
    .select(["a.json as application", "d.json as newest", "d.is_over as isOver"])
    .where("a.fqn", "=", fqn),
);

/** An application as stored: a list adds its newest deployment. */
export type ApplicationRow = Omit<Application, "deployment">;

/** A deployment as stored: a reply adds its application. */
export type DeploymentRow = Omit<Deployment, "application">;

declare module "../../database/tables.ts" {
  interface Tables {
    readonly applications: ResourceRow<ApplicationRow> & {
      readonly fqn: string;
      readonly name: string;
      readonly type: string;
      readonly workspace_id: string;
      readonly last_deployment_id: string;
      readonly active_deployment_id: string | null;
    };
    readonly deployments: ResourceRow<Stored<DeploymentRow>> & {
      readonly application_id: string;
      readonly version: number;
      /** 1 when the rollout has ended, else 0. */
      readonly is_over: number;
      /** When the rollout is due again, in epoch milliseconds; null when it has ended. */
      readonly look_at: number | null;
    };
  }
}

/** The application of that fqn, visible or not. */
export async function findApplication(database: Kysely<Tables>, fqn: string): Promise<FoundApplication | null> {
  const [found] = await byFqn(database, { fqn });
  if (found === undefined) return null;
  const { application, newest, isOver } = found;
  const underWay = newest !== null && Number(isOver) === 0 ? fromText(newest) : null;
  return { application: fromText(application), newest, underWay };
}

const byId = preparedQuery((database: Kysely<Tables>, { id }: { readonly id: string }) =>
  database.selectFrom("applications").select(["json", "fqn", "name"]).where("id", "=", id),
);

/** The application of that id, visible or not. */
export const findApplicationById = resourceBy("applications", "id");

/** The stored text of that application, and its workspace. */
export async function findApplicationText(
  database: Kysely<Tables>,
  id: string,
): Promise<{ readonly text: JsonText<ApplicationRow>; readonly workspaceFqn: string } | null> {
  const [row] = await byId(database, { id });
  return row === undefined ? null : { text: row.json, workspaceFqn: row.fqn.slice(0, -row.name.length - 1) };
}

const upsertApplication = saveIn("applications", "json", "last_deployment_id", "active_deployment_id");

/** Inserts or updates an application; returns its text. */
export async function saveApplication(
  transaction: Transaction<Tables>,
  application: ApplicationRow,
): Promise<JsonText<ApplicationRow>> {
  const { id, createdAt, fqn, name, type, workspaceId, lastDeploymentId, activeDeploymentId } = application;
  const json = toText(application);
  await upsertApplication(transaction, {
    id,
    created_at: createdAt,
    fqn,
    name,
    type,
    workspace_id: workspaceId,
    json,
    last_deployment_id: lastDeploymentId ?? "",
    active_deployment_id: activeDeploymentId ?? null,
  });
  return json;
}

const upsertDeployment = saveIn("deployments", "json", "is_over", "look_at");

/** Inserts or updates a deployment; returns its text. `dueAt` is when its rollout is due again. */
export async function saveDeployment(
  transaction: Transaction<Tables>,
  deployment: Stored<DeploymentRow>,
  dueAt: number | null,
): Promise<JsonText<DeploymentRow>> {
  const { id, createdAt, applicationId, version, currentStatus } = deployment;
  const isOver = currentStatus?.state.isTerminalState ?? false;
  const json = toText(deployment);
  await upsertDeployment(transaction, {
    id,
    created_at: createdAt,
    application_id: applicationId ?? "",
    version,
    json,
    is_over: isOver ? 1 : 0,
    look_at: isOver || dueAt === null ? null : Math.ceil(dueAt),
  });
  return json;
}

/** A deployment in a reply: with its application, which has no `deployment` of its own. */
export function deploymentText(
  deployment: JsonText<DeploymentRow>,
  application: JsonText<ApplicationRow>,
): JsonText<Deployment> {
  return withMember(deployment, "application", application);
}

/** An application in a list: with its newest deployment, which has no `application` of its own. */
export function applicationText(
  application: JsonText<ApplicationRow>,
  deployment: JsonText<DeploymentRow>,
): JsonText<Application> {
  return withMember(application, "deployment", deployment);
}
