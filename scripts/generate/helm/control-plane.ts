import { backupClaim, databaseBackup, fileBackup } from "../kubernetes/control-plane/backup.ts";
import { deployment } from "../kubernetes/control-plane/deployment.ts";
import { NAME } from "../kubernetes/control-plane/names.ts";
import { settings } from "../kubernetes/control-plane/settings.ts";
import { statefulSet } from "../kubernetes/control-plane/stateful-set.ts";
import {
  databaseBackupPolicy,
  databasePolicy,
  disruptionBudget,
  fileBackupPolicy,
  networkPolicy,
  service,
  serviceMonitor,
} from "../kubernetes/control-plane/surroundings.ts";
import { controlPlaneRule } from "../monitoring/prometheus-rule.ts";
import { nested, optional, podBindings, scalar } from "./bindings.ts";
import type { Place } from "./place.ts";
import type { Binding, ChartObject, Condition } from "./template.ts";

const enabled: Condition = { value: "controlPlane.enabled" };
const onPostgres: Condition = { value: "controlPlane.postgres" };
const onSqlite: Condition = { ...onPostgres, not: true };
const hasBackup: Condition = { value: "controlPlane.backup.enabled" };

const template = ["spec", "template"];
const pod = [...template, "spec"];
const storage = ["spec", "resources", "requests", "storage"];
const job = ["spec", "jobTemplate", "spec", "template", "spec"];

function fromSecret(variable: string, container: string, ...spec: Place): Binding {
  const path = ["env", variable, "valueFrom", "secretKeyRef", "name"];
  return scalar("controlPlane.secretName", ...spec, "containers", container, ...path);
}

const pods: readonly Binding[] = [
  ...podBindings("controlPlane", NAME, ...template),
  scalar("controlPlane.secretName", ...pod, "volumes", "secrets", "secret", "secretName"),
  scalar("controlPlane.tlsSecretName", ...pod, "volumes", "tls", "secret", "secretName"),
  fromSecret("HOLDFAST_ADMIN_TOKEN", NAME, ...pod),
];
const backups: readonly Binding[] = [
  scalar("controlPlane.backup.schedule", "spec", "schedule"),
  optional("imagePullSecrets", ...job, "imagePullSecrets"),
  optional("controlPlane.tolerations", ...job, "tolerations"),
];

/** The chart's objects of the control plane. */
export const controlPlaneObjects: readonly ChartObject[] = [
  {
    file: "stateful-set",
    object: statefulSet,
    when: [enabled, onSqlite],
    bindings: [...pods, scalar("controlPlane.storage", "spec", "volumeClaimTemplates", "0", ...storage)],
  },
  {
    file: "deployment",
    object: deployment,
    when: [enabled, onPostgres],
    bindings: [
      ...pods,
      scalar("controlPlane.replicas", "spec", "replicas"),
      fromSecret("HOLDFAST_DATABASE", NAME, ...pod),
    ],
  },
  {
    file: "settings",
    object: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: NAME }, data: settings },
    when: [enabled],
    bindings: [nested("controlPlane.settings", "data")],
  },
  {
    file: "service",
    object: service,
    when: [enabled],
    bindings: [scalar("controlPlane.serviceType", "spec", "type")],
  },
  { file: "disruption-budget", object: disruptionBudget, when: [enabled], bindings: [] },
  {
    file: "network-policy",
    object: networkPolicy,
    when: [enabled],
    bindings: [nested("controlPlane.ingressFrom", "spec", "ingress", "0", "from")],
  },
  { file: "database-policy", object: databasePolicy, when: [enabled, onPostgres], bindings: [] },
  {
    file: "service-monitor",
    object: serviceMonitor,
    when: [enabled, { value: "serviceMonitors" }],
    bindings: [
      scalar("controlPlane.tlsSecretName", ...["spec", "endpoints", "0", "tlsConfig", "ca", "secret", "name"]),
    ],
  },
  { file: "prometheus-rule", object: controlPlaneRule, when: [enabled, { value: "serviceMonitors" }], bindings: [] },
  {
    file: "backup",
    object: fileBackup,
    when: [enabled, hasBackup, onSqlite],
    bindings: [...backups, scalar("image", ...job, "containers", "backup", "image")],
  },
  {
    file: "database-backup",
    object: databaseBackup,
    when: [enabled, hasBackup, onPostgres],
    bindings: [
      ...backups,
      scalar("controlPlane.backup.postgresImage", ...job, "containers", "backup", "image"),
      fromSecret("HOLDFAST_DATABASE", "backup", ...job),
    ],
  },
  { file: "backup-policy", object: fileBackupPolicy, when: [enabled, hasBackup, onSqlite], bindings: [] },
  {
    file: "database-backup-policy",
    object: databaseBackupPolicy,
    when: [enabled, hasBackup, onPostgres],
    bindings: [],
  },
  {
    file: "backup-state",
    object: backupClaim,
    when: [enabled, hasBackup],
    bindings: [scalar("controlPlane.backup.storage", ...storage)],
  },
];
