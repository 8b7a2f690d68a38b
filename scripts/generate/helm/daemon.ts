import { config } from "../kubernetes/config.ts";
import { deployment } from "../kubernetes/deployment.ts";
import { statefulSet } from "../kubernetes/high-availability.ts";
import { NAME } from "../kubernetes/names.ts";
import { claim, disruptionBudget, networkPolicy, service, serviceMonitor } from "../kubernetes/surroundings.ts";
import { ingress, ingressPolicy } from "../kubernetes/webhooks.ts";
import { daemonRule } from "../monitoring/prometheus-rule.ts";
import { nested, podBindings, scalar } from "./bindings.ts";
import type { ChartObject, Condition } from "./template.ts";

const enabled: Condition = { value: "daemon.enabled" };
const isDouble: Condition = { value: "daemon.highAvailability" };
const isSingle: Condition = { ...isDouble, not: true };
const hasWebhooks: Condition = { value: "daemon.webhooks.enabled" };

const template = ["spec", "template"];
const pods = [
  ...podBindings("daemon", NAME, ...template),
  scalar("daemon.secretName", ...template, "spec", "volumes", "secrets", "secret", "secretName"),
  scalar("daemon.automountServiceAccountToken", ...template, "spec", "automountServiceAccountToken"),
];
const storage = ["spec", "resources", "requests", "storage"];

/** The chart's objects of the daemon. */
export const daemonObjects: readonly ChartObject[] = [
  { file: "deployment", object: deployment, when: [enabled, isSingle], bindings: pods },
  { file: "state", object: claim, when: [enabled, isSingle], bindings: [scalar("daemon.storage", ...storage)] },
  {
    file: "stateful-set",
    object: statefulSet,
    when: [enabled, isDouble],
    bindings: [...pods, scalar("daemon.storage", "spec", "volumeClaimTemplates", "0", ...storage)],
  },
  {
    file: "config",
    object: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: NAME }, data: { "holdfast.yaml": config } },
    when: [enabled],
    bindings: [{ at: ["data", "holdfast.yaml"], value: "daemon.config", form: "text" }],
  },
  { file: "service", object: service, when: [enabled], bindings: [] },
  { file: "disruption-budget", object: disruptionBudget, when: [enabled], bindings: [] },
  {
    file: "network-policy",
    object: networkPolicy,
    when: [enabled],
    bindings: [
      nested("daemon.ingressFrom", "spec", "ingress", "0", "from"),
      nested("daemon.egressPorts", "spec", "egress", "0", "ports"),
    ],
  },
  {
    file: "service-monitor",
    object: serviceMonitor,
    when: [enabled, { value: "serviceMonitors" }],
    bindings: [scalar("daemon.secretName", "spec", "endpoints", "0", "authorization", "credentials", "name")],
  },
  { file: "prometheus-rule", object: daemonRule, when: [enabled, { value: "serviceMonitors" }], bindings: [] },
  {
    file: "webhooks",
    object: ingress,
    when: [enabled, hasWebhooks],
    bindings: [
      scalar("daemon.webhooks.ingressClassName", "spec", "ingressClassName"),
      scalar("daemon.webhooks.host", "spec", "tls", "0", "hosts", "0"),
      scalar("daemon.webhooks.host", "spec", "rules", "0", "host"),
      scalar("daemon.webhooks.tlsSecretName", "spec", "tls", "0", "secretName"),
    ],
  },
  {
    file: "webhooks-policy",
    object: ingressPolicy,
    when: [enabled, hasWebhooks],
    bindings: [nested("daemon.webhooks.from", "spec", "ingress", "0", "from")],
  },
];
