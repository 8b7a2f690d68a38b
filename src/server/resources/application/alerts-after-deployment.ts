import type { Alert, DebugInfo, DeploymentStatus } from "../../../contract/generated/resources.ts";
import type { Json, JsonObject } from "../../../contract/json.ts";
import { failedStatuses } from "../../../contract/rollout-state.ts";
import type { Stored } from "../../database/tables.ts";
import type { ApplicationRow, DeploymentRow } from "./rows.ts";

const MAX_ALERTS = 20;

/** The application and debug information of an alert. */
export type AlertSubject = {
  readonly applicationId: string;
  readonly clusterId: string;
  readonly tenantName: string;
  readonly applicationDebugInfoId?: string;
};

const MAX_INFOS = 20;
// Every reply of an application includes all of them; a longer image can be read in the deployment's manifest.
const MAX_IMAGE_LENGTH = 4096;

/**
 * The alerts of an application after its newest deployment reached a status: a success resolves all of them, a failure
 * opens one or adds a timestamp to the open one.
 */
export function alertsAfterDeployment(
  alerts: readonly Alert[],
  status: DeploymentStatus,
  subject: AlertSubject,
  newId: () => string,
): readonly Alert[] {
  const now = status.createdAt;
  if (status.status === "DEPLOY_SUCCESS") return alerts.map((alert) => resolved(alert, now));
  if (!isFailure(status)) return alerts;
  const name = status.status === "BUILD_FAILED" ? "BuildFailed" : "RolloutFailed";
  const open = alerts.find((alert) => alert.name === name && alert.resolvedTime === undefined);
  const others = alerts.filter((alert) => alert !== open);
  const alert = open === undefined ? opened(name, now, subject, newId()) : again(open, now, subject);
  return [alert, ...others].slice(0, MAX_ALERTS);
}

/** The number of open alerts, by name. */
export function summariseAlerts(alerts: readonly Alert[]): JsonObject {
  const open = alerts.filter(({ resolvedTime }) => resolvedTime === undefined);
  const byName = Map.groupBy(open, ({ name }) => name);
  return { open: open.length, byName: Object.fromEntries(byName.entries().map(([name, all]) => [name, all.length])) };
}

function opened(name: string, now: string, subject: AlertSubject, id: string): Alert {
  return {
    ...subject,
    id,
    name,
    fingerprint: `${subject.applicationId}/${name}`,
    timestamps: [now],
    startTime: now,
    createdAt: now,
    updatedAt: now,
  };
}

function again(alert: Alert, now: string, { applicationDebugInfoId }: AlertSubject): Alert {
  const timestamps = [...alert.timestamps, now].slice(-MAX_ALERTS);
  return {
    ...alert,
    ...(applicationDebugInfoId !== undefined && { applicationDebugInfoId }),
    timestamps,
    updatedAt: now,
  };
}

function resolved(alert: Alert, now: string): Alert {
  return alert.resolvedTime === undefined ? { ...alert, resolvedTime: now, updatedAt: now } : alert;
}

/** Whether a status is a failure; a cancelled deployment is none. */
function isFailure({ status }: DeploymentStatus): boolean {
  return failedStatuses.includes(status) && status !== "CANCELLED";
}

/** Debug information of a failed deployment; null when it did not fail. */
export function debugInfoOf(
  { id: applicationId, fqn, name, type, workspaceFqn, activeVersion }: ApplicationRow,
  { id: deploymentId, version, manifest, currentStatus, deploymentStatuses }: Stored<DeploymentRow>,
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
