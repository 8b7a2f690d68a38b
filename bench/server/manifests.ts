import type { Ask } from "./load.ts";

const cluster = { type: "cluster", name: "bench", cluster_type: "generic" };

/** A service of the size that most have. */
function service(workspace: string, name: string, env: object) {
  return {
    type: "service",
    name,
    workspace_fqn: `bench:${workspace}`,
    image: { type: "image", image_uri: `registry.example.com/${name}:1.0.0` },
    ports: [{ port: 8080, protocol: "TCP", expose: false, app_protocol: "http" }],
    env: { LOG_LEVEL: "info", REGION: "eu-central-1", CACHE_SECONDS: 60, ...env },
    resources: { cpu_request: 0.5, cpu_limit: 1, memory_request: 500, memory_limit: 1000 },
    labels: { team: "ml", tier: "backend" },
    liveness_probe: { config: { type: "http", path: "/healthz", port: 8080 }, period_seconds: 10 },
    readiness_probe: { config: { type: "http", path: "/readyz", port: 8080 }, period_seconds: 5 },
    replicas: 2,
  };
}

/** Writes a service, with further environment variables. */
export function putApp(workspace: string, name: string, env: object = {}): Ask {
  return { method: "PUT", path: "/api/svc/v1/apps", body: { manifest: service(workspace, name, env) } };
}

/** Writes the cluster that everything is on. */
export const putCluster: Ask = { method: "PUT", path: "/api/svc/v1/clusters", body: { manifest: cluster } };

/** Writes that many workspaces, `w0` and on. */
export function putWorkspaces(count: number): readonly Ask[] {
  return Array.from({ length: count }, (_, nth) => ({
    method: "PUT",
    path: "/api/svc/v1/workspaces",
    body: { manifest: { type: "workspace", name: `ws${nth}`, cluster_fqn: "bench" } },
  }));
}
