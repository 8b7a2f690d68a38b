import type { Json, JsonObject } from "../../../contract/json.ts";
import type { DebugInfo, DeploymentStatus } from "../../../contract/resources.ts";
import { failedStatuses } from "../../../contract/rollout.ts";
import type { StoredDeployment } from "./rows.ts";
import type { ApplicationRow } from "./tables.ts";

const KEPT_INFOS = 20;
// An application has as many of them in every reply: what is longer than this is read in the deployment's manifest.
const LONGEST_IMAGE = 4096;

/** Whether a status says that something went wrong; being cancelled was somebody's wish. */
export function isFailure({ status }: Pick<DeploymentStatus, "status">): boolean {
  return failedStatuses.includes(status) && status !== "CANCELLED";
}

/** What is known of how a deployment failed; null when it did not. */
export function debugInfoOf(
  { id: applicationId, fqn, name, type, workspaceFqn, activeVersion }: ApplicationRow,
  { id: deploymentId, version, manifest, currentStatus, deploymentStatuses }: StoredDeployment,
  newId: () => string,
): DebugInfo | null {
  if (currentStatus === null || !isFailure(currentStatus)) return null;
  const { status, message, createdAt } = currentStatus;
  const statuses = deploymentStatuses.map((step) => ({ status: step.status, at: step.createdAt }));
  return {
    id: newId(),
    applicationId,
    application: { id: applicationId, fqn, name, type, workspaceFqn, activeVersion },
    debugInfo: { deploymentId, version, status, message, statuses, image: shortImage(manifest) },
    createdAt,
    updatedAt: createdAt,
  };
}

function shortImage({ image = null }: JsonObject): Json {
  return JSON.stringify(image).length > LONGEST_IMAGE ? null : image;
}

/** The newest first, and no more than anybody reads. */
export function withDebugInfo(infos: readonly DebugInfo[], info: DebugInfo | null): readonly DebugInfo[] {
  return info === null ? infos : [info, ...infos].slice(0, KEPT_INFOS);
}
