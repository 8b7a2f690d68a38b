import fc from "fast-check";
import { expect, test } from "vitest";
import { type Caller, startControlPlane } from "../control-plane.ts";
import { cluster, plantWorkspace, service, workspace } from "./platform.ts";

const permission = { resource_fqn: "c1x:ws1", resource_type: "workspace", role_id: "workspace-viewer" };
const target = { target: "m", weight: 1, retry_config: { attempts: 1, delay: 1, on_status_codes: ["500"] } };

/** A sound request of each write, rich enough to be spoilt in many ways. */
const requests: readonly (readonly [method: "put" | "post", path: string, body: object])[] = [
  [
    "put",
    "/api/svc/v1/clusters",
    {
      manifest: {
        ...cluster,
        collaborators: [{ subject: "team:everyone", role_id: "cluster-viewer" }],
        monitoring: { metrics_url: "https://x.example.com" },
      },
    },
  ],
  [
    "put",
    "/api/svc/v1/workspaces",
    {
      manifest: { ...workspace, labels: { a: "b" }, permissions: [permission], ownedBy: { account: "a" } },
      dryRun: true,
    },
  ],
  [
    "put",
    "/api/svc/v1/apps",
    {
      manifest: {
        ...service,
        env: { A: "b", C: 1 },
        ports: [{ port: 80, expose: true, host: "a.apps.example.com", path: "/" }],
        resources: { cpu_request: 1, cpu_limit: 2 },
        mounts: [{ type: "string", mount_path: "/x", data: "y" }],
        liveness_probe: { config: { type: "http", path: "/", port: 80 }, period_seconds: 10 },
        replicas: { min_replicas: 1, max_replicas: 2, metrics: { type: "cpu", value: 50 } },
      },
      dryRun: false,
      forceDeploy: true,
    },
  ],
  ["put", "/api/svc/v1/apps", { manifest: { ...service, type: "job", name: "nightly", trigger: { type: "cron" } } }],
  [
    "put",
    "/api/svc/v1/teams",
    { manifest: { type: "team", name: "ops", members: ["a@example.com"], managers: ["b@example.com"] } },
  ],
  [
    "put",
    "/api/svc/v1/virtual-accounts",
    {
      manifest: {
        type: "virtual-account",
        name: "ci",
        permissions: [permission],
        expiration_date: "2999-01-31",
        auto_rotate: { auto_rotate_interval: 30, grace_period: 1 },
        notification_target: { type: "email", notification_channel: "x", to_emails: ["a@example.com"] },
      },
    },
  ],
  [
    "put",
    "/api/svc/v1/ml-repos",
    {
      manifest: {
        type: "ml-repo",
        name: "r1",
        description: "x",
        collaborators: [{ subject: "team:everyone", role_id: "ml-repo-viewer" }],
      },
    },
  ],
  [
    "put",
    "/api/ml/v1/prompt-versions",
    {
      manifest: {
        type: "chat_prompt",
        name: "greet",
        ml_repo: "r1",
        messages: [{ role: "system", content: "hi" }],
        variables: { a: "b" },
        tools: [{ type: "function", function: { name: "f", parameters: {} } }],
        routing_config: { type: "weight-based-routing", load_balance_targets: [target] },
      },
    },
  ],
  [
    "put",
    "/api/ml/v1/model-versions",
    {
      manifest: {
        type: "model-version",
        name: "m1",
        ml_repo: "r1",
        source: { type: "external", uri: "s3://x" },
        framework: { type: "transformers", pipeline_tag: "x" },
        metadata: { a: 1 },
        step: 1,
      },
    },
  ],
  ["post", "/api/ml/v1/model-versions", { manifest: { type: "model-version", name: "m2", ml_repo: "r1", version: 1 } }],
  ["post", "/api/ml/v1/artifact-versions/stage", { manifest: { type: "model-version", name: "m3", ml_repo: "r1" } }],
  ["post", "/api/svc/v1/secret-groups", { name: "g", integrationId: "builtin", secrets: [{ key: "k", value: "v" }] }],
  ["post", "/api/ml/v1/artifact-versions/mark-stage-failure", { id: "x" }],
];

/** Values that nobody expects. */
const oddities = fc.oneof(
  fc.constantFrom(null, "", "\u0000", "\ud800", "__proto__", "constructor", -1, 0, 0.5, 1e308, 2 ** 53, true, [], {}),
  fc.constantFrom(
    "x".repeat(100_000),
    "'; DROP TABLE audit; --",
    "%_%",
    "a\nb",
    "\u202e",
    "c1x:ws1:api:1",
    "secret://a:b:c",
  ),
  fc.constant(Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [`k${at}`, at]))),
  fc.constant(Array.from({ length: 2000 }, (_, at) => ({ at }))),
  fc.jsonValue({ maxDepth: 4 }),
);

type Step = string | number;

function pathsIn(value: unknown, above: readonly Step[] = []): readonly (readonly Step[])[] {
  if (typeof value !== "object" || value === null) return [above];
  const keys: readonly Step[] = Array.isArray(value)
    ? [...value.keys(), value.length]
    : [...Object.keys(value), "odd key"];
  const inner = (key: Step) => (key in value ? pathsIn(Reflect.get(value, key), [...above, key]) : [[...above, key]]);
  return [above, ...keys.flatMap(inner)];
}

function spoilt(value: unknown, [step, ...rest]: readonly Step[], oddity: unknown): unknown {
  if (step === undefined) return oddity;
  if (Array.isArray(value)) return value.toSpliced(Number(step), 1, spoilt(value[Number(step)], rest, oddity));
  const fields = typeof value === "object" && value !== null ? value : {};
  return { ...fields, [step]: spoilt(Reflect.get(fields, step), rest, oddity) };
}

async function send(admin: Caller, method: "put" | "post", path: string, body: unknown): Promise<number> {
  const reply = await admin[method](path, body);
  if (reply.status !== 200) expect(reply.body).toMatchObject({ statusCode: reply.status, message: expect.any(String) });
  return reply.status;
}

test("whatever is wrong with a request, it is refused as a request and never fails the server", async () => {
  const { admin } = await startControlPlane();
  await plantWorkspace(admin);
  for (const [method, path, body] of requests.slice(0, -1))
    expect([path, await send(admin, method, path, body)]).toEqual([path, 200]);
  for (const [method, path, body] of requests) {
    const spoiling = fc.record({ path: fc.constantFrom(...pathsIn(body)), oddity: oddities });
    await fc.assert(
      fc.asyncProperty(spoiling, async (change) => {
        expect(await send(admin, method, path, spoilt(body, change.path, change.oddity))).toBeLessThan(500);
      }),
      { numRuns: 60 },
    );
  }
  // After all of that everything can still be read.
  for (const path of [
    "/api/svc/v1/apps",
    "/api/svc/v1/workspaces",
    "/api/svc/v1/teams",
    "/api/ml/v1/prompt-versions",
    "/api/ml/v1/model-versions",
  ]) {
    expect((await admin.get(`${path}?limit=1000`)).status).toBe(200);
  }
});
