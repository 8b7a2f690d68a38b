import type { PersistentVolumeClaim, Service } from "kubernetes-types/core/v1.d.ts";
import type { NetworkPolicy } from "kubernetes-types/networking/v1.d.ts";
import type { PodDisruptionBudget } from "kubernetes-types/policy/v1.d.ts";
import { controlPlanePort, labels, NAME, port } from "./names.ts";

/** The volume of the state: ledger, journal, caches, one-time tokens and repositories. */
export const claim: PersistentVolumeClaim = {
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: `${NAME}-state`, labels },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "5Gi" } } },
};

/** Where metrics are scraped, and webhooks arrive. */
export const service: Service = {
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: NAME, labels },
  spec: { selector: labels, ports: [{ name: port.name, port: port.number, targetPort: port.name }] },
};

/** Lets in whoever monitors, and out to names, git and control planes. */
export const networkPolicy: NetworkPolicy = {
  apiVersion: "networking.k8s.io/v1",
  kind: "NetworkPolicy",
  metadata: { name: NAME, labels },
  spec: {
    podSelector: { matchLabels: labels },
    policyTypes: ["Ingress", "Egress"],
    ingress: [
      {
        from: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "monitoring" } } }],
        ports: [{ port: port.name, protocol: "TCP" }],
      },
    ],
    egress: [
      {
        ports: [
          { port: 53, protocol: "UDP" },
          { port: 53, protocol: "TCP" },
          { port: 22, protocol: "TCP" },
          { port: 443, protocol: "TCP" },
          { port: controlPlanePort.number, protocol: "TCP" },
        ],
      },
    ],
  },
};

/** Lets nodes be drained, one pod after the other: a single replica cannot be kept while its node goes. */
export const disruptionBudget: PodDisruptionBudget = {
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  metadata: { name: NAME, labels },
  spec: { maxUnavailable: 1, unhealthyPodEvictionPolicy: "AlwaysAllow", selector: { matchLabels: labels } },
};

/** As much as is used here of the Prometheus operator's resource, which is no part of Kubernetes. */
type ServiceMonitor = {
  readonly apiVersion: "monitoring.coreos.com/v1";
  readonly kind: "ServiceMonitor";
  readonly metadata: { readonly name: string; readonly labels: { readonly [name: string]: string } };
  readonly spec: {
    readonly selector: { readonly matchLabels: { readonly [name: string]: string } };
    readonly endpoints: readonly {
      readonly port: string;
      readonly path: string;
      readonly interval: string;
      readonly authorization: { readonly credentials: { readonly name: string; readonly key: string } };
    }[];
  };
};

/** Tells the Prometheus operator what to scrape. */
export const serviceMonitor: ServiceMonitor = {
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
        // Without it `holdfast_build_info` is left out.
        authorization: { credentials: { name: NAME, key: "ui-token" } },
      },
    ],
  },
};
