import type { Deployment } from "kubernetes-types/apps/v1.d.ts";
import type { Container, PodSpec, Probe, Volume } from "kubernetes-types/core/v1.d.ts";
import { labels, mounts, NAME, port } from "./names.ts";

const USER = 10_001;

/** What the restricted pod security standard asks of each container. */
export const restricted = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ["ALL"] },
};

function probe(path: string, more: Probe): Probe {
  return { httpGet: { path, port: port.name }, timeoutSeconds: 5, ...more };
}

const container: Container = {
  name: NAME,
  image: NAME,
  args: ["watch", "--config", `${mounts.config}/holdfast.yaml`, "--listen", `0.0.0.0:${port.number}`],
  env: [
    { name: "HOLDFAST_STATE_KEY_FILE", value: `${mounts.secrets}/state-key` },
    { name: "HOLDFAST_UI_TOKEN_FILE", value: `${mounts.secrets}/ui-token` },
    { name: "HOLDFAST_LOG_FORMAT", value: "json" },
  ],
  ports: [{ name: port.name, containerPort: port.number }],
  livenessProbe: probe("/healthz", { periodSeconds: 20, failureThreshold: 6 }),
  readinessProbe: probe("/readyz", { periodSeconds: 10 }),
  resources: { requests: { cpu: "100m", memory: "256Mi" }, limits: { memory: "512Mi" } },
  securityContext: restricted,
  volumeMounts: [
    { name: "state", mountPath: mounts.state },
    { name: "config", mountPath: mounts.config, readOnly: true },
    { name: "secrets", mountPath: mounts.secrets, readOnly: true },
  ],
};

const volumes: Volume[] = [
  { name: "state", persistentVolumeClaim: { claimName: `${NAME}-state` } },
  { name: "config", configMap: { name: NAME } },
  // Readable for the pod's group alone.
  { name: "secrets", secret: { secretName: NAME, defaultMode: 0o440 } },
];

const pod: PodSpec = {
  automountServiceAccountToken: false,
  enableServiceLinks: false,
  // A pass in flight is finished, and the lease given back.
  terminationGracePeriodSeconds: 60,
  securityContext: {
    runAsNonRoot: true,
    runAsUser: USER,
    runAsGroup: USER,
    fsGroup: USER,
    // The state's files keep their modes: only a new volume is given to the group.
    fsGroupChangePolicy: "OnRootMismatch",
    seccompProfile: { type: "RuntimeDefault" },
  },
  containers: [container],
  volumes,
};

/** The daemon: one replica, and never two at the same time on one volume. */
export const deployment: Deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: NAME, labels },
  spec: {
    replicas: 1,
    strategy: { type: "Recreate" },
    revisionHistoryLimit: 3,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: pod },
  },
};
