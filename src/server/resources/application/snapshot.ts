import type { Transaction } from "kysely";
import type { Deployment, DeploymentStatus } from "../../../contract/generated/resources.ts";
import { isObject, type JsonObject, text } from "../../../contract/json.ts";
import { rolloutState } from "../../../contract/rollout-state.ts";
import { secretsOf } from "../../../model/references.ts";
import { type Context, timestamp } from "../../context.ts";
import { markChanged } from "../../database/digests.ts";
import type { Stored, Tables } from "../../database/tables.ts";
import { readObjects, readRowFields, readTimestamp, readVersionNumber } from "../../snapshot/rows.ts";
import { type CopyOutcome, notCopied, type SnapshotPart } from "../../snapshot/snapshot-part.ts";
import { recordSecretUses } from "../secret-group/secret-uses.ts";
import { findWorkspace } from "../workspace.ts";
import {
  createdDeployment,
  currentOf,
  newApplication,
  plannedDeployment,
  withDeployment,
  withOutcome,
} from "./deployment.ts";
import { type ApplicationRow, type DeploymentRow, findApplication, saveApplication, saveDeployment } from "./rows.ts";

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
  const blank = newApplication(id, workspace, { name, type }, subject, createdAt);
  const copy = [...byVersion.values()]
    .toSorted((one, other) => one.version - other.version)
    .reduce((before, deployment) => after(before, deployment, context.newId), blank);
  for (const deployment of byVersion.values()) await storeDeployment(transaction, deployment, context);
  await saveApplication(transaction, { ...copy, ...ownFields(application, byVersion), updatedAt });
  const resource = `${type}/${workspace.fqn}/${name}`;
  await markChanged(transaction, resource, context);
  return { result: "copied", resource };
}

function after(before: ApplicationRow, deployment: Stored<DeploymentRow>, newId: () => string): ApplicationRow {
  return withOutcome(withDeployment(before, deployment, newId), deployment, newId);
}

async function storeDeployment(
  transaction: Transaction<Tables>,
  deployment: Stored<DeploymentRow>,
  context: Context,
): Promise<void> {
  await saveDeployment(transaction, deployment, context.clock.now());
  await recordSecretUses(transaction, deployment, secretsOf(deployment.manifest));
}

/** The fields of an application that do not follow from its deployments. */
function ownFields(
  { lifecycleStage, metadata, activeDeploymentId }: JsonObject,
  byVersion: ReadonlyMap<number, Stored<DeploymentRow>>,
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

/** Reads a deployment of another control plane with its history; null when its version or manifest is missing. */
function readDeployment(
  row: JsonObject,
  application: { readonly id: string; readonly fqn: string },
  context: Context,
): Stored<DeploymentRow> | null {
  const version = readVersionNumber(row.version);
  if (version === null || !isObject(row.manifest)) return null;
  const { id: given, manifest, subject, createdAt, updatedAt } = readRowFields(row, timestamp(context));
  const id = given ?? context.newId();
  const wanted = { applicationId: application.id, applicationFqn: application.fqn, version, manifest, subject };
  const planned = plannedDeployment({ ...wanted, now: createdAt, recommended: [] });
  const deploymentStatuses = historyOf(row).map((status) => readStatus(status, id, createdAt, context.newId));
  return {
    ...createdDeployment(planned, application.id, id),
    updatedAt,
    deploymentBuilds: buildsOf(row),
    deploymentStatuses,
    ...currentOf(deploymentStatuses),
  };
}

/** The status history of a deployment, the current status last; `INITIALIZED` when it has none. */
function historyOf({ deploymentStatuses, currentStatus }: JsonObject): readonly JsonObject[] {
  const current = isObject(currentStatus) ? currentStatus : null;
  const history = readObjects(deploymentStatuses).filter(({ id }) => current === null || id !== current.id);
  const all = current === null ? history : [...history, current];
  return all.length === 0 ? [{ status: "INITIALIZED" }] : all;
}

function readStatus(row: JsonObject, deploymentId: string, now: string, newId: () => string): DeploymentStatus {
  const { state, retryCount } = row;
  const status = text(row.status) ?? "INITIALIZED";
  const createdAt = readTimestamp(row.createdAt) ?? now;
  const message = text(row.message);
  return {
    id: text(row.id) || newId(),
    deploymentId,
    status,
    transition: text(row.transition) ?? "",
    ...(message !== undefined && { message }),
    state: {
      isTerminalState: rolloutState({ status, state }) !== "progressing",
      display: (isObject(state) ? text(state.display) : undefined) ?? status,
    },
    retryCount: typeof retryCount === "number" ? retryCount : 0,
    createdAt,
    updatedAt: readTimestamp(row.updatedAt) ?? createdAt,
  };
}

function buildsOf({ deploymentBuilds }: JsonObject): Deployment["deploymentBuilds"] {
  return readObjects(deploymentBuilds).flatMap(({ name, status }) =>
    typeof name === "string" && typeof status === "number" ? [{ name, status }] : [],
  );
}
