import type { Transaction } from "kysely";
import { isObject, type JsonObject, text } from "../../../contract/json.ts";
import { type Context, timestamp } from "../../context.ts";
import type { Tables } from "../../database/tables.ts";
import { readObjects, readRowFields } from "../../snapshot/read-row.ts";
import { type CopyOutcome, notCopied, type SnapshotPart } from "../../snapshot/snapshot-part.ts";
import { recordSecretUses } from "../secret-group/secret-uses.ts";
import { findWorkspace } from "../workspace.ts";
import { newApplication, withDeployment, withOutcome } from "./deployment.ts";
import { findApplication, type StoredDeployment, saveApplication, saveDeployment } from "./rows.ts";
import { readDeployment } from "./snapshot-deployment.ts";
import type { ApplicationRow } from "./tables.ts";

/** Copies an application with its deployments; a rollout in progress continues here. */
async function copyApplication(
  transaction: Transaction<Tables>,
  application: JsonObject,
  deployments: readonly JsonObject[],
  context: Context,
): Promise<CopyOutcome> {
  const workspace = await findWorkspace(transaction, text(application.workspaceFqn) ?? "");
  if (workspace === null) return notCopied("the snapshot lacks its workspace");
  const name = text(application.name);
  const type = text(application.type);
  if (!name || !type) return notCopied("its name or type is missing");
  const fqn = `${workspace.fqn}:${name}`;
  if ((await findApplication(transaction, fqn)) !== null) return { result: "exists" };
  const { id: given, subject, createdAt, updatedAt } = readRowFields(application, timestamp(context));
  const id = given ?? context.newId();
  const read = deployments.flatMap((row) => readDeployment(row, { id, fqn }, context) ?? []);
  const byVersion = new Map(read.map((deployment) => [deployment.version, deployment]));
  if (byVersion.size === 0) return notCopied("the snapshot has none of its deployments");
  const blank = newApplication({ id, fqn, name, type, workspace, subject, now: createdAt });
  const copy = [...byVersion.values()]
    .toSorted((one, other) => one.version - other.version)
    .reduce((before, deployment) => after(before, deployment, context.newId), blank);
  for (const deployment of byVersion.values()) await storeDeployment(transaction, deployment, context);
  await saveApplication(transaction, { ...copy, ...ownFields(application, byVersion), updatedAt });
  return { result: "copied", resource: `${type}/${workspace.fqn}/${name}` };
}

function after(before: ApplicationRow, deployment: StoredDeployment, newId: () => string): ApplicationRow {
  return withOutcome(withDeployment(before, deployment, newId), deployment, newId);
}

async function storeDeployment(
  transaction: Transaction<Tables>,
  deployment: StoredDeployment,
  context: Context,
): Promise<void> {
  await saveDeployment(transaction, deployment, context.now());
  await recordSecretUses(transaction, deployment);
}

/** The fields of an application that do not follow from its deployments. */
function ownFields(
  { lifecycleStage, metadata, activeDeploymentId }: JsonObject,
  byVersion: ReadonlyMap<number, StoredDeployment>,
): Partial<ApplicationRow> {
  const active = [...byVersion.values()].find(({ id }) => id === activeDeploymentId);
  return {
    lifecycleStage: text(lifecycleStage) ?? "active",
    metadata: { paused: isObject(metadata) && metadata.paused === true },
    ...(active !== undefined && { activeDeploymentId: active.id, activeVersion: active.version }),
  };
}

/** Copies applications, each with its deployments: `{application, deployments}`. */
export const applicationSnapshotPart: SnapshotPart = {
  name: "application",
  after: ["workspace", "secret"],
  rows: ({ applications = [] }) =>
    applications.map(({ application, deployments }) => {
      const row = isObject(application) ? application : {};
      return {
        name: `application/${text(row.fqn) ?? text(row.name) ?? text(row.id) ?? "without a name"}`,
        operation: "putApp",
        copy: (transaction, context) => copyApplication(transaction, row, readObjects(deployments), context),
      };
    }),
};
