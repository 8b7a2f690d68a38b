import type { Deployment } from "kubernetes-types/apps/v1.d.ts";
import type { Container, PodSpec, Volume } from "kubernetes-types/core/v1.d.ts";
import { labels, mounts, NAME, port } from "./names.ts";
import { confined, probes, restricted } from "./pod.ts";

const container: Container = {
  name: NAME,
  image: NAME,
  args: ["watch", "--config", `${mounts.config}/holdfast.yaml`, "--listen", `0.0.0.0:${port.number}`],
  env: [
    { name: "HOLDFAST_STATE_KEY_FILE", value: `${mounts.secrets}/state-key` },
    { name: "HOLDFAST_UI_TOKEN_FILE", value: `${mounts.secrets}/ui-token` },
  ],
  ports: [{ name: port.name, containerPort: port.number }],
  ...probes(port.name),
  // The request is the bench's limit for the peak of a daemon of 10,000 manifests.
  resources: { requests: { cpu: "100m", memory: "350M" }, limits: { memory: "512Mi" } },
  securityContext: restricted,
  volumeMounts: [
    { name: "state", mountPath: mounts.state },
    { name: "config", mountPath: mounts.config, readOnly: true },
    { name: "secrets", mountPath: mounts.secrets, readOnly: true },
  ],
};

const volumes: Volume[] = [
  { name: "config", configMap: { name: NAME } },
  // Readable for the pod's group alone.
  { name: "secrets", secret: { secretName: NAME, defaultMode: 0o440 } },
];

/** The daemon's pod, without the volume of its state. */
export const pod: PodSpec = {
  ...confined,
  // A pass in flight is finished, and the lease given back.
  terminationGracePeriodSeconds: 60,
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
    template: {
      metadata: { labels },
      spec: {
        ...pod,
        volumes: [{ name: "state", persistentVolumeClaim: { claimName: `${NAME}-state` } }, ...volumes],
      },
    },
  },
};
