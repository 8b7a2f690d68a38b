import { NAME as CONTROL_PLANE, labels as controlPlaneLabels } from "../kubernetes/control-plane/names.ts";
import { NAME as DAEMON, labels as daemonLabels } from "../kubernetes/names.ts";
import type { Alert } from "./alert.ts";
import { controlPlaneAlerts } from "./control-plane-alerts.ts";
import { daemonAlerts } from "./daemon-alerts.ts";

/** The alerts of the daemon for the Prometheus operator. */
export const daemonRule = ruleOf(DAEMON, daemonLabels, daemonAlerts);

/** The alerts of the control plane for the Prometheus operator. */
export const controlPlaneRule = ruleOf(CONTROL_PLANE, controlPlaneLabels, controlPlaneAlerts);

function ruleOf(name: string, labels: { readonly [name: string]: string }, alerts: readonly Alert[]) {
  const rules = alerts.map(({ alert, expr, for: holds, severity, summary }) => ({
    alert,
    expr,
    ...(holds === undefined ? {} : { for: holds }),
    labels: { severity },
    annotations: { summary },
  }));
  return {
    apiVersion: "monitoring.coreos.com/v1",
    kind: "PrometheusRule",
    metadata: { name, labels },
    spec: { groups: [{ name, rules }] },
  };
}
