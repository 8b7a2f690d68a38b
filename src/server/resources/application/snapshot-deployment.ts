import type { Deployment, DeploymentStatus } from "../../../contract/generated/resources.ts";
import { isObject, type JsonObject, text } from "../../../contract/json.ts";
import { rolloutState } from "../../../contract/rollout-state.ts";
import { type Context, timestamp } from "../../context.ts";
import { readObjects, readRowFields, readTimestamp, readVersionNumber } from "../../snapshot/read-row.ts";
import { createdDeployment, currentOf, plannedDeployment } from "./deployment.ts";
import type { StoredDeployment } from "./rows.ts";

/** Reads a deployment of another control plane with its history; null when its version or manifest is missing. */
export function readDeployment(
  row: JsonObject,
  application: { readonly id: string; readonly fqn: string },
  context: Context,
): StoredDeployment | null {
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
