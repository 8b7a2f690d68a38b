import type { Alert, DeploymentStatus } from "../../../contract/generated/resources.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { isFailure } from "./failure-debug-info.ts";

const MAX_ALERTS = 20;

/** The application and debug information of an alert. */
export type AlertSubject = Pick<Alert, "applicationId" | "clusterId" | "tenantName" | "applicationDebugInfoId">;

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
