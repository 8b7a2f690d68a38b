import type { Deployment } from "kubernetes-types/apps/v1.d.ts";
import type { Container } from "kubernetes-types/core/v1.d.ts";
import { mounts, NAME, port } from "./names.ts";
import { restricted } from "./pod.ts";

const LINK = "source";

const checkout = { name: "checkout", mountPath: mounts.checkout };

// Each commit becomes a folder of its own, and a link is swapped to it as a whole.
const sidecar: Container = {
  name: "git-sync",
  image: "registry.k8s.io/git-sync/git-sync:v4.4.0",
  envFrom: [{ configMapRef: { name: "git-sync" } }],
  env: [
    { name: "GITSYNC_ROOT", value: mounts.checkout },
    { name: "GITSYNC_LINK", value: LINK },
    { name: "GITSYNC_PASSWORD_FILE", value: `${mounts.secrets}/git-token` },
    // An outage of the remote does not end the pod.
    { name: "GITSYNC_MAX_FAILURES", value: "-1" },
  ],
  resources: { requests: { cpu: "10m", memory: "64Mi" }, limits: { memory: "256Mi" } },
  securityContext: restricted,
  volumeMounts: [
    checkout,
    { name: "secrets", mountPath: mounts.secrets, readOnly: true },
    { name: "scratch", mountPath: "/tmp" },
  ],
};

/** Changes the daemon to read a checkout that a sidecar keeps at the newest commit. */
export const gitSyncPatch: Deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: NAME },
  spec: {
    selector: {},
    template: {
      spec: {
        containers: [
          {
            name: NAME,
            args: [
              "watch",
              "--source",
              `${mounts.checkout}/${LINK}`,
              "--config",
              `${mounts.config}/holdfast.yaml`,
              "--listen",
              `0.0.0.0:${port.number}`,
            ],
            volumeMounts: [{ ...checkout, readOnly: true }],
          },
          sidecar,
        ],
        volumes: [
          { name: checkout.name, emptyDir: { sizeLimit: "2Gi" } },
          { name: "scratch", emptyDir: { sizeLimit: "64Mi" } },
        ],
      },
    },
  },
};
