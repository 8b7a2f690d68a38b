import type { Container, PodSpec, Probe } from "kubernetes-types/core/v1.d.ts";

const USER = 10_001;

/** What the restricted pod security standard asks of each container. */
export const restricted = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ["ALL"] },
};

/** What every pod has: a user without rights, and no access to the cluster. */
export const confined = {
  automountServiceAccountToken: false,
  enableServiceLinks: false,
  securityContext: {
    runAsNonRoot: true,
    runAsUser: USER,
    runAsGroup: USER,
    fsGroup: USER,
    // The state's files keep their modes: only a new volume is given to the group.
    fsGroupChangePolicy: "OnRootMismatch",
    seccompProfile: { type: "RuntimeDefault" },
  },
} satisfies Partial<PodSpec>;

/** The probes of a program that answers `/healthz` and `/readyz` at a port. */
export function probes(
  port: string,
  scheme?: "HTTPS",
): Pick<Container, "startupProbe" | "livenessProbe" | "readinessProbe"> {
  const probe = (path: string, more: Probe): Probe => ({
    httpGet: { path, port, ...(scheme === undefined ? {} : { scheme }) },
    timeoutSeconds: 5,
    ...more,
  });
  return {
    // An upgrade of a large database is not ended halfway.
    startupProbe: probe("/healthz", { periodSeconds: 5, failureThreshold: 120 }),
    livenessProbe: probe("/healthz", { periodSeconds: 20, failureThreshold: 6 }),
    readinessProbe: probe("/readyz", { periodSeconds: 10 }),
  };
}

/** Keeps the pods with these labels on different nodes where there is more than one. */
export function spread(labels: { readonly [name: string]: string }): Pick<PodSpec, "topologySpreadConstraints"> {
  return {
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: "kubernetes.io/hostname",
        whenUnsatisfiable: "ScheduleAnyway",
        labelSelector: { matchLabels: labels },
      },
    ],
  };
}
