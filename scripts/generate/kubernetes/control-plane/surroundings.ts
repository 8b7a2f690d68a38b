import type { Service } from "kubernetes-types/core/v1.d.ts";
import type { NetworkPolicy } from "kubernetes-types/networking/v1.d.ts";
import type { PodDisruptionBudget } from "kubernetes-types/policy/v1.d.ts";
import { labels as daemonLabels, controlPlanePort as port } from "../names.ts";
import { backupLabels, labels, NAME, TLS_SECRET } from "./names.ts";

const DNS = [
  { port: 53, protocol: "UDP" },
  { port: 53, protocol: "TCP" },
];
const POSTGRES = { port: 5432, protocol: "TCP" };

/** Where clients and Prometheus find the control plane. */
export const service: Service = {
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: NAME, labels },
  spec: { type: "ClusterIP", selector: labels, ports: [{ name: port.name, port: port.number, targetPort: port.name }] },
};

function policy(name: string, spec: NetworkPolicy["spec"]): NetworkPolicy {
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name, labels },
    ...(spec && { spec }),
  };
}

function namespaces(...names: string[]) {
  return {
    namespaceSelector: { matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "In", values: names }] },
  };
}

/** Lets in the daemon beside it, whoever monitors and the ingress controller; out only to names. */
export const networkPolicy = policy(NAME, {
  podSelector: { matchLabels: labels },
  policyTypes: ["Ingress", "Egress"],
  ingress: [
    {
      from: [{ podSelector: { matchLabels: daemonLabels } }, namespaces("monitoring", "ingress-nginx")],
      ports: [{ port: port.name, protocol: "TCP" }],
    },
  ],
  egress: [{ ports: DNS }],
});

/** Lets the control plane out to its database. */
export const databasePolicy = policy(`${NAME}-database`, {
  podSelector: { matchLabels: labels },
  policyTypes: ["Egress"],
  egress: [{ ports: [POSTGRES] }],
});

/** Lets a backup of SQLite nowhere: it only copies files. */
export const fileBackupPolicy = policy(`${NAME}-backup`, {
  podSelector: { matchLabels: backupLabels },
  policyTypes: ["Ingress", "Egress"],
});

/** Lets a backup of PostgreSQL out to the database. */
export const databaseBackupPolicy = policy(`${NAME}-backup`, {
  podSelector: { matchLabels: backupLabels },
  policyTypes: ["Ingress", "Egress"],
  egress: [{ ports: [...DNS, POSTGRES] }],
});

/** Lets nodes be drained, one pod after the other. */
export const disruptionBudget: PodDisruptionBudget = {
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  metadata: { name: NAME, labels },
  spec: { maxUnavailable: 1, unhealthyPodEvictionPolicy: "AlwaysAllow", selector: { matchLabels: labels } },
};

/** Tells the Prometheus operator what to scrape. */
export const serviceMonitor = {
  apiVersion: "monitoring.coreos.com/v1",
  kind: "ServiceMonitor",
  metadata: { name: NAME, labels },
  spec: {
    selector: { matchLabels: labels },
    endpoints: [
      {
        port: port.name,
        path: "/metrics",
        interval: "30s",
        scheme: "https",
        tlsConfig: { ca: { secret: { name: TLS_SECRET, key: "ca.crt" } }, serverName: NAME },
      },
    ],
  },
};
