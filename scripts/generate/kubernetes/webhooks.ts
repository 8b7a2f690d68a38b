import type { Ingress, NetworkPolicy } from "kubernetes-types/networking/v1.d.ts";
import { labels, NAME, port } from "./names.ts";

const name = `${NAME}-webhooks`;
const host = "hooks.example.com";

const backend = { service: { name: NAME, port: { name: port.name } } };

/** Publishes the paths of webhooks, and the one that takes plans of pull requests: all others stay in the cluster. */
export const ingress: Ingress = {
  apiVersion: "networking.k8s.io/v1",
  kind: "Ingress",
  metadata: { name, labels },
  spec: {
    ingressClassName: "nginx",
    tls: [{ hosts: [host], secretName: `${name}-tls` }],
    rules: [
      {
        host,
        http: {
          paths: [
            { path: "/hooks", pathType: "Prefix", backend },
            { path: "/api/v1/plans", pathType: "Exact", backend },
          ],
        },
      },
    ],
  },
};

/** Lets in the namespace of the ingress controller. */
export const ingressPolicy: NetworkPolicy = {
  apiVersion: "networking.k8s.io/v1",
  kind: "NetworkPolicy",
  metadata: { name, labels },
  spec: {
    podSelector: { matchLabels: labels },
    policyTypes: ["Ingress"],
    ingress: [
      {
        from: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "ingress-nginx" } } }],
        ports: [{ port: port.name, protocol: "TCP" }],
      },
    ],
  },
};
