import type { Transaction } from "kysely";
import { isObject, type JsonObject, text } from "../../../contract/json.ts";
import { type Context, timestamp } from "../../context.ts";
import type { Tables } from "../../database/tables.ts";
import { type CopyOutcome, notCopied } from "../../snapshot/copy-outcome.ts";
import { readObjects, readRowFields } from "../../snapshot/read-row.ts";
import type { SnapshotPart } from "../../snapshot/snapshot-part.ts";
import { recordSecretUses } from "../secret-group/uses.ts";
import { findWorkspace } from "../workspace.ts";
import { newApplication, withDeployment, withOutcome } from "./deployment.ts";
import { findApplication, type StoredDeployment, saveApplication, saveDeployment } from "./rows.ts";
import { readDeployment } from "./snapshot-deployment.ts";
import type { ApplicationRow } from "./tables.ts";

/** Copies an application with the deployments that were seen of it; a rollout under way goes on here by itself. */
async function copyApplication(
  transaction: Transaction<Tables>,
  application: JsonObject,
  deployments: readonly JsonObject[],
  context: Context,
): Promise<CopyOutcome> {
  const workspace = await findWorkspace(transaction, text(application.workspaceFqn) ?? "");
  if (workspace === null) return notCopied("its workspace was not seen");
  const name = text(application.name);
  const type = text(application.type);
  if (!name || !type) return notCopied("it lacks its name or type");
  const fqn = `${workspace.fqn}:${name}`;
  if ((await findApplication(transaction, fqn)) !== null) return { result: "exists" };
  const { id: given, subject, createdAt, updatedAt } = readRowFields(application, timestamp(context));
  const id = given ?? context.newId();
  const read = deployments.flatMap((row) => readDeployment(row, { id, fqn }, context) ?? []);
  const kept = new Map(read.map((deployment) => [deployment.version, deployment]));
  if (kept.size === 0) return notCopied("none of its deployments was seen");
  const blank = newApplication({ id, fqn, name, type, workspace, subject, now: createdAt });
  const copy = [...kept.values()]
    .toSorted((one, other) => one.version - other.version)
    .reduce((before, deployment) => after(before, deployment, context.newId), blank);
  for (const deployment of kept.values()) await keep(transaction, deployment, context);
  await saveApplication(transaction, { ...copy, ...standing(application, kept), updatedAt });
  return { result: "copied", resource: `${type}/${workspace.fqn}/${name}` };
}

function after(before: ApplicationRow, deployment: StoredDeployment, newId: () => string): ApplicationRow {
  return withOutcome(withDeployment(before, deployment, newId), deployment, newId);
}

async function keep(transaction: Transaction<Tables>, deployment: StoredDeployment, context: Context): Promise<void> {
  await saveDeployment(transaction, deployment, context.now());
  await recordSecretUses(transaction, deployment);
}

/** What an application says of itself that its deployments do not. */
function standing(
  { lifecycleStage, metadata, activeDeploymentId }: JsonObject,
  kept: ReadonlyMap<number, StoredDeployment>,
): Partial<ApplicationRow> {
  const active = [...kept.values()].find(({ id }) => id === activeDeploymentId);
  return {
    lifecycleStage: text(lifecycleStage) ?? "active",
    metadata: { paused: isObject(metadata) && metadata.paused === true },
    ...(active !== undefined && { activeDeploymentId: active.id, activeVersion: active.version }),
  };
}

/** Copies applications, each with those of its deployments that were seen: `{application, deployments}`. */
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
