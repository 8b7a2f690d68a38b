import type { JsonObject } from "../../src/contract/json.ts";

/** The nth service of a block, as large as those that people really write. */
export function service(id: string, index: number): JsonObject {
  const name = `svc-${id}-${index}`;
  return {
    type: "service",
    name,
    workspace_fqn: `cluster-${id}:ws-${id}-${index % 10}`,
    image: image(name, index),
    resources: {
      cpu_request: 0.25 * (1 + (index % 4)),
      cpu_limit: 0.5 * (1 + (index % 4)),
      memory_request: 512 * (1 + (index % 4)),
      memory_limit: 1024 * (1 + (index % 4)),
      ephemeral_storage_request: 1024,
      ephemeral_storage_limit: 4096,
    },
    env: environment(name, index),
    ports: [
      {
        port: 8080,
        protocol: "TCP",
        expose: true,
        app_protocol: "http",
        host: `${name}.c${id}.bench.example`,
        path: `/${name}/`,
      },
      { port: 9090, protocol: "TCP", expose: false },
    ],
    service_account: `sa-${name}`,
    mounts: [{ type: "secret", mount_path: "/etc/tls/key.pem", secret_fqn: "holdfast:bench:tls-key" }],
    labels: { area: `area-${index % 10}`, "example.com/owner": `team-${id}-${index % 6}`, language: "python" },
    liveness_probe: probe("/livez", 20),
    readiness_probe: probe("/readyz", 10),
    replicas: 1 + (index % 3),
    auto_shutdown: { wait_time: 3600 },
    rollout_strategy: { type: "rolling_update", max_unavailable_percentage: 0, max_surge_percentage: 25 + (index % 3) },
  };
}

function image(name: string, index: number): JsonObject {
  if (index % 3 !== 0) return { type: "image", image_uri: `registry.bench.example/${name}:1.${index}.0` };
  return {
    type: "build",
    docker_registry: "bench:registry:main",
    build_source: { type: "remote", remote_uri: `https://git.bench.example/apps/${name}.git` },
    build_spec: {
      type: "dockerfile",
      dockerfile_path: "./Dockerfile",
      build_context_path: "./",
      command: `uvicorn app.main:server --host 0.0.0.0 --port 8080 --workers ${1 + (index % 4)}`,
      build_args: { PYTHON_VERSION: "3.12", RELEASE: `1.${index}.0` },
    },
  };
}

function environment(name: string, index: number): JsonObject {
  const plain = Array.from({ length: 22 }, (_, nth) => [
    `SETTING_${nth}`,
    nth % 3 === 0 ? nth * 10 + index : `value ${nth} of ${name}, with a "quote" and a #hash`,
  ]);
  return {
    ...Object.fromEntries(plain),
    LOG_LEVEL: "info",
    DEBUG: false,
    DATABASE_HOST: `db-${index}.internal.bench.example`,
    DATABASE_PASSWORD: "secret://holdfast:bench:database-password",
    UPSTREAM_URL: "https://upstream.bench.example/v1?key=secret://holdfast:bench:api-key",
  };
}

function probe(path: string, period: number): JsonObject {
  return {
    config: { type: "http", path, port: 8080, scheme: "HTTP" },
    initial_delay_seconds: 5,
    period_seconds: period,
    timeout_seconds: 3,
    success_threshold: 1,
    failure_threshold: 4,
  };
}
