import type { CronJob } from "kubernetes-types/batch/v1.d.ts";
import type { Container, PersistentVolumeClaim, PodSpec } from "kubernetes-types/core/v1.d.ts";
import { NAME as PROJECT } from "../names.ts";
import { confined, restricted } from "../pod.ts";
import { backupLabels, labels, mounts, NAME } from "./names.ts";
import { fromSecret } from "./pod.ts";
import { claimName } from "./stateful-set.ts";

const name = `${NAME}-backup`;

/** The volume of the backups. */
export const backupClaim: PersistentVolumeClaim = {
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name, labels: backupLabels },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "20Gi" } } },
};

const backupVolume = { name: "backup", persistentVolumeClaim: { claimName: name } };
const backupMount = { name: "backup", mountPath: mounts.backup };

function script(suffix: string, copy: string): string {
  return `set -eu
umask 077
file=${mounts.backup}/$(date -u +%Y-%m-%dT%H%M%SZ).${suffix}
${copy}
find ${mounts.backup} -name '*.${suffix}' -mtime +30 -delete
`;
}

function nightly(container: Container, pod: Partial<PodSpec>): CronJob {
  return {
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: { name, labels: backupLabels },
    spec: {
      schedule: "0 2 * * *",
      timeZone: "Etc/UTC",
      concurrencyPolicy: "Forbid",
      startingDeadlineSeconds: 3600,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 3,
      jobTemplate: {
        spec: {
          backoffLimit: 2,
          activeDeadlineSeconds: 3600,
          template: {
            metadata: { labels: backupLabels },
            spec: { ...confined, restartPolicy: "Never", ...pod, containers: [container] },
          },
        },
      },
    },
  };
}

const resources = { requests: { cpu: "50m", memory: "128Mi" }, limits: { memory: "512Mi" } };

/** Copies SQLite's data each night, on the node of the control plane, whose volume it shares. */
export const fileBackup = nightly(
  {
    name: "backup",
    image: PROJECT,
    command: ["/bin/sh", "-c"],
    args: [script("db", 'holdfast backup "$file"')],
    resources,
    securityContext: restricted,
    volumeMounts: [{ name: "state", mountPath: mounts.state }, backupMount],
  },
  {
    affinity: {
      podAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: labels } },
        ],
      },
    },
    volumes: [{ name: "state", persistentVolumeClaim: { claimName } }, backupVolume],
  },
);

/** Dumps PostgreSQL each night. */
export const databaseBackup = nightly(
  {
    name: "backup",
    image: "postgres:17-alpine",
    command: ["/bin/sh", "-c"],
    // What was cut off has no name that a restore would take.
    args: [script("dump", 'pg_dump --format=custom --file "$file.part" "$HOLDFAST_DATABASE"\nmv "$file.part" "$file"')],
    env: [fromSecret("HOLDFAST_DATABASE", "database")],
    resources,
    securityContext: restricted,
    volumeMounts: [backupMount],
  },
  { volumes: [backupVolume] },
);
