import type { Container, EnvVar, PodSpec, Volume } from "kubernetes-types/core/v1.d.ts";
import { NAME as PROJECT, controlPlanePort as port } from "../names.ts";
import { confined, probes, restricted } from "../pod.ts";
import { labels, mounts, NAME, TLS_SECRET } from "./names.ts";

const DRAIN_SECONDS = 10;

/** An environment variable with the value of a key of the control plane's Secret. */
export function fromSecret(name: string, key: string): EnvVar {
  return { name, valueFrom: { secretKeyRef: { name: NAME, key } } };
}

const container: Container = {
  name: NAME,
  image: PROJECT,
  args: [
    ...["serve", "--host", "0.0.0.0", "--port", `${port.number}`],
    ...["--tls-cert", `${mounts.tls}/tls.crt`, "--tls-key", `${mounts.tls}/tls.key`],
    // Long enough for endpoints and load balancers to notice that the pod is not ready any more.
    ...["--drain-seconds", `${DRAIN_SECONDS}`],
  ],
  envFrom: [{ configMapRef: { name: NAME } }],
  env: [
    { name: "HOLDFAST_SERVER_KEY_FILE", value: `${mounts.secrets}/server-key` },
    { name: "HOLDFAST_LOG_FORMAT", value: "json" },
    fromSecret("HOLDFAST_ADMIN_TOKEN", "admin-token"),
  ],
  ports: [{ name: port.name, containerPort: port.number }],
  ...probes(port.name, "HTTPS"),
  // The limit has room for the bodies and replies in flight, 192 MiB together.
  resources: { requests: { cpu: "100m", memory: "256Mi" }, limits: { memory: "768Mi" } },
  securityContext: restricted,
  volumeMounts: [
    { name: "state", mountPath: mounts.state },
    { name: "secrets", mountPath: mounts.secrets, readOnly: true },
    { name: "tls", mountPath: mounts.tls, readOnly: true },
  ],
};

const volumes: Volume[] = [
  // The administrator's token is read from the environment, and the database's address too.
  {
    name: "secrets",
    secret: { secretName: NAME, defaultMode: 0o440, items: [{ key: "server-key", path: "server-key" }] },
  },
  { name: "tls", secret: { secretName: TLS_SECRET, defaultMode: 0o440 } },
];

/** The control plane's pod with what its variant adds: more of the environment, and the volume of its state. */
export function podWith({ env = [], state = [] }: { readonly env?: readonly EnvVar[]; readonly state?: Volume[] }) {
  const spec: PodSpec = {
    ...confined,
    // Requests in progress end within ten seconds after the drain.
    terminationGracePeriodSeconds: DRAIN_SECONDS + 30,
    containers: [{ ...container, env: [...(container.env ?? []), ...env] }],
    volumes: [...state, ...volumes],
  };
  return { metadata: { labels }, spec };
}
