import { expect, test } from "vitest";
import { createLog } from "../../src/log/log.ts";
import { effects, startControlPlane } from "../control-plane.ts";
import { plantWorkspace, service } from "./platform.ts";

const APPS = "/api/svc/v1/apps";
const TEAMS = "/api/svc/v1/teams";
const hostile = [
  "a\nb",
  "a\r\n::set-env name=A::b",
  "\u001b[2J",
  "a b",
  "a\u202eb",
  "é",
  "",
  "x".repeat(10_000),
  "-a",
  "a/b",
];

test("S51 an application's type is a word, since the audit names the application by it", async () => {
  const { admin, data } = await startControlPlane();
  await plantWorkspace(admin);
  const before = await effects(data);
  for (const type of hostile) {
    for (const dryRun of [true, false]) {
      const { status, body } = await admin.put(APPS, { manifest: { ...service, type }, dryRun });
      expect([type, status, body.details?.[0]?.pointer]).toEqual([type, 422, "/type"]);
    }
  }
  expect(await effects(data)).toEqual(before);
  for (const type of ["job", "some-type", "application_set", "Custom2"])
    expect(
      (await admin.put(APPS, { manifest: { ...service, name: type.toLowerCase().replace("_", "-"), type } })).status,
    ).toBe(200);
});

test("S51 whatever names a caller gives, audit, metrics and log hold none that could forge a line", async () => {
  const lines: string[] = [];
  const log = createLog({ level: "trace", stream: { write: (line) => lines.push(line) } });
  const { admin, url, data, adminToken } = await startControlPlane({ log });
  await plantWorkspace(admin);
  await admin.put("/api/svc/v1/ml-repos", { manifest: { type: "ml-repo", name: "support" } });
  const named = (text: string): readonly (readonly [method: "put" | "post", path: string, body: object])[] => [
    ["put", APPS, { manifest: { ...service, name: text } }],
    ["put", APPS, { manifest: { ...service, type: text } }],
    ["put", "/api/svc/v1/clusters", { manifest: { type: "cluster", name: text, cluster_type: text } }],
    ["put", "/api/svc/v1/workspaces", { manifest: { type: "workspace", name: text, cluster_fqn: "c1x" } }],
    ["put", TEAMS, { manifest: { type: "team", name: text, members: ["a@example.com"] } }],
    ["put", TEAMS, { manifest: { type: "sso-team", name: text } }],
    ["put", "/api/svc/v1/ml-repos", { manifest: { type: "ml-repo", name: text } }],
    ["put", "/api/svc/v1/virtual-accounts", { manifest: { type: "virtual-account", name: text, permissions: [] } }],
    [
      "post",
      "/api/svc/v1/secret-groups",
      { name: text, integrationId: "builtin", secrets: [{ key: text, value: "v" }] },
    ],
    ["put", "/api/svc/v1/secret-groups", { manifest: { type: "secret-group", name: text, secrets: [] } }],
    ["put", "/api/ml/v1/model-versions", { manifest: { type: "model-version", name: text, ml_repo: "support" } }],
    [
      "post",
      "/api/ml/v1/artifact-versions/stage",
      { manifest: { type: "artifact-version", name: text, ml_repo: "support" } },
    ],
    ["post", "/api/ml/v1/artifact-versions/mark-stage-failure", { id: text }],
    ["put", `/api/svc/v1/leases/${encodeURIComponent(text.slice(0, 300))}`, { holder: text, ttlSeconds: 1 }],
  ];
  for (const text of hostile) {
    for (const [method, path, body] of named(text)) await admin[method](path, body);
    const headers = { authorization: `Bearer ${adminToken.open()}` };
    const path = encodeURIComponent(text.slice(0, 400));
    await fetch(`${url}/api/svc/v1/personal-access-tokens/${path}`, { headers });
    await fetch(`${url}/api/svc/v1/clusters/${path}?limit=${path}`, { headers });
    await fetch(`${url}/${path}`, { headers });
  }
  for (const effect of await effects(data)) expect(effect).toMatch(/^[\w:.@/ é-]{1,400}$/);
  expect(lines.length).toBeGreaterThan(100);
  for (const line of lines) {
    expect(line).toMatch(/^\{"level":[\p{L}\p{M}\p{N}\p{P}\p{S} ]+\}\n$/u);
    expect(line.length).toBeLessThan(10_000);
  }
  const metrics = await (await fetch(`${url}/metrics`)).text();
  for (const line of metrics.split(/\n+/).slice(0, -1))
    expect(line).toMatch(/^(?:# |[a-z0-9_]+(?:\{[\w="+,.]*\})? (?:[\d.e+-]+|NaN)$)/);
});

test("S51 members and managers of an sso-team are e-mail addresses, where they are given", async () => {
  const { admin } = await startControlPlane();
  const sso = (more: object) => admin.put(TEAMS, { manifest: { type: "sso-team", name: "ml", ...more } });
  for (const field of ["members", "managers"]) {
    for (const value of [["user:ada@example.com"], ["ada"], ["a b@example.com"], [7], [null], [["a@example.com"]]])
      expect([value, (await sso({ [field]: value })).body.details?.[0]?.pointer]).toEqual([value, `/${field}/0`]);
    for (const value of ["ada@example.com", 7, { a: 1 }, true])
      expect([value, (await sso({ [field]: value })).body.details?.[0]?.pointer]).toEqual([value, `/${field}`]);
    const many = Array.from({ length: 10_001 }, (_, n) => `m${n}@example.com`);
    expect((await sso({ [field]: many })).status).toBe(422);
    for (const value of [null, [], ["ada@example.com"]]) expect((await sso({ [field]: value })).status).toBe(200);
  }
  expect((await sso({ anything: { goes: [1] } })).status).toBe(200);
});

test("S51 a server that speaks no TLS says so once where others can reach it, and else nothing", async () => {
  const told = async (host: string) => {
    const lines: string[] = [];
    const log = createLog({ level: "warn", stream: { write: (line) => lines.push(line) } });
    await startControlPlane({ host, log });
    return lines.map((line) => JSON.parse(line));
  };
  expect(await told("127.0.0.1")).toEqual([]);
  expect(await told("localhost")).toEqual([]);
  expect(await told("0.0.0.0")).toMatchObject([
    { level: "warn", host: "0.0.0.0", msg: expect.stringContaining("tokens travel in clear") },
  ]);
});
