import type { DebugInfo, DeploymentStatus } from "../../../contract/generated/resources.ts";
import type { Json, JsonObject } from "../../../contract/json.ts";
import { failedStatuses } from "../../../contract/rollout-state.ts";
import type { ApplicationRow, StoredDeployment } from "./rows.ts";

const MAX_INFOS = 20;
// Every reply of an application includes all of them; a longer image can be read in the deployment's manifest.
const MAX_IMAGE_LENGTH = 4096;

/** Whether a status is a failure; a cancelled deployment is none. */
export function isFailure({ status }: DeploymentStatus): boolean {
  return failedStatuses.includes(status) && status !== "CANCELLED";
}

/** Debug information of a failed deployment; null when it did not fail. */
export function debugInfoOf(
  { id: applicationId, fqn, name, type, workspaceFqn, activeVersion }: ApplicationRow,
  { id: deploymentId, version, manifest, currentStatus, deploymentStatuses }: StoredDeployment,
  newId: () => string,
): DebugInfo | null {
  if (currentStatus === undefined || !isFailure(currentStatus)) return null;
  const { status, message, createdAt } = currentStatus;
  const statuses = deploymentStatuses.map((step) => ({ status: step.status, at: step.createdAt }));
  return {
    id: newId(),
    applicationId,
    application: {
      id: applicationId,
      fqn,
      name,
      type,
      workspaceFqn,
      ...(activeVersion !== undefined && { activeVersion }),
    },
    debugInfo: {
      deploymentId,
      version,
      status,
      ...(message !== undefined && { message }),
      statuses,
      image: shortImage(manifest),
    },
    createdAt,
    updatedAt: createdAt,
  };
}

function shortImage({ image = null }: JsonObject): Json {
  return JSON.stringify(image).length > MAX_IMAGE_LENGTH ? null : image;
}

/** Adds debug information, the newest first, and drops the oldest. */
export function withDebugInfo(infos: readonly DebugInfo[], info: DebugInfo | null): readonly DebugInfo[] {
  return info === null ? infos : [info, ...infos].slice(0, MAX_INFOS);
}
