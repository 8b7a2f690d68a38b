import type { NetworkPolicy } from "kubernetes-types/networking/v1.d.ts";
import { deployment } from "./deployment.ts";
import { labels, mounts, NAME } from "./names.ts";
import { spread } from "./pod.ts";
import { claim } from "./surroundings.ts";

const DATABASE_PORT = 5432;

/** Several daemons that share their passes by a state in PostgreSQL: no volume, and what is on a disk can be lost. */
export const fleetPatch = {
  apiVersion: deployment.apiVersion,
  kind: deployment.kind,
  metadata: { name: NAME },
  spec: {
    replicas: 3,
    strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } },
    template: {
      spec: {
        containers: [
          {
            name: NAME,
            env: [
              // The image names a folder.
              { name: "HOLDFAST_STATE", value: "" },
              { name: "HOLDFAST_WORKERS", value: "4" },
              { name: "HOLDFAST_STATE_FILE", value: `${mounts.secrets}/state-address` },
            ],
            // Repositories and caches are beside the source.
            volumeMounts: [{ name: "source", mountPath: "/source" }],
          },
        ],
        volumes: [
          { name: "state", persistentVolumeClaim: null, emptyDir: {} },
          { name: "source", emptyDir: {} },
        ],
        ...spread(labels),
      },
    },
  },
};

/** Takes the volume of the single daemon out of what is deployed. */
export const withoutClaim = {
  $patch: "delete",
  apiVersion: claim.apiVersion,
  kind: claim.kind,
  metadata: { name: claim.metadata?.name },
};

/** Lets the pods reach the database. */
export const databasePolicy: NetworkPolicy = {
  apiVersion: "networking.k8s.io/v1",
  kind: "NetworkPolicy",
  metadata: { name: `${NAME}-database`, labels },
  spec: {
    podSelector: { matchLabels: labels },
    policyTypes: ["Egress"],
    egress: [{ ports: [{ port: DATABASE_PORT, protocol: "TCP" }] }],
  },
};
