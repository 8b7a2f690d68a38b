import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { REPLY_CAP } from "../../src/contract/limits.ts";
import type { Secret } from "../../src/contract/secret.ts";
import { type Caller, effects, startControlPlane } from "../control-plane.ts";
import { statement } from "../support/test-database.ts";
import { calm, dial } from "../unit/client/server.ts";
import { plantWorkspace, service } from "./platform.ts";

const APPS = "/api/svc/v1/apps";
const TEAMS = "/api/svc/v1/teams";
const GROUPS = "/api/svc/v1/secret-groups";
const PROMPTS = "/api/ml/v1/prompt-versions";

/** An environment of so many values of 128 KiB. */
const env = (values: number) =>
  Object.fromEntries(Array.from({ length: values }, (_, n) => [`V${n}`, "x".repeat(131_072)]));
/** Sends a write under a key of its own, or a given one. */
async function keyed(plane: { url: string; adminToken: Secret }, path: string, body: unknown, key: string) {
  const response = await fetch(plane.url + path, {
    method: "PUT",
    headers: {
      authorization: `Bearer ${plane.adminToken.open()}`,
      "content-type": "application/json",
      "idempotency-key": key,
    },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, text, body: JSON.parse(text) };
}

/** Makes more than a reply of each list's rows, and answers the list's path and how many rows it has. */
const lists: {
  readonly [name: string]: (admin: Caller, data: string) => Promise<readonly [path: string, total: number]>;
} = {
  "prompt versions": async (admin) => {
    await admin.put("/api/svc/v1/ml-repos", { manifest: { type: "ml-repo", name: "support" } });
    const prompt = (n: number) => ({
      manifest: {
        type: "chat_prompt",
        name: `p${n}`,
        ml_repo: "support",
        messages: [{ role: "system", content: "é".repeat(524_288) }],
      },
    });
    await made(Array.from({ length: 10 }, (_, n) => admin.put(PROMPTS, prompt(n))));
    return [PROMPTS, 10];
  },
  applications: async (admin) => {
    await plantWorkspace(admin);
    const manifests = Array.from({ length: 10 }, (_, n) => ({ ...service, name: `api-${n}`, env: env(8) }));
    await made(manifests.map((manifest) => admin.put(APPS, { manifest })));
    return [APPS, 10];
  },
  deployments: async (admin, data) => {
    await plantWorkspace(admin);
    for (let n = 0; n < 10; n += 1) await made([admin.put(APPS, { manifest: { ...service, env: env(8) } })]);
    const { id } = (await admin.get(`${APPS}?limit=1`)).body.data[0];
    // Every row holds the application too, with what is known of it.
    const filler = `{"filler":"${"x".repeat(400_000)}",`;
    await statement(data, "UPDATE applications SET json = replace(json, '{\"id\"', ? || '\"id\"')", [filler]);
    return [`${APPS}/${id}/deployments`, 10];
  },
  "deployments of a secret": async (admin) => {
    await plantWorkspace(admin);
    const secrets = [{ key: "k", value: "v" }];
    const { data } = (await admin.post(GROUPS, { name: "g", integrationId: "builtin", secrets })).body;
    const using = { ...env(8), SECRET: "secret://holdfast:g:k" };
    const manifests = Array.from({ length: 10 }, (_, n) => ({ ...service, name: `api-${n}`, env: using }));
    await made(manifests.map((manifest) => admin.put(APPS, { manifest })));
    return [`/api/svc/v1/secrets/${data.associatedSecrets[0].id}/deployments`, 10];
  },
  teams: async (admin) => {
    const members = Array.from({ length: 10_000 }, (_, n) => `${"m".repeat(60)}${n}@${"example.".repeat(20)}com`);
    const manifests = Array.from({ length: 4 }, (_, n) => ({ type: "team", name: `t${n}`, members }));
    for (const manifest of manifests) await made([admin.put(TEAMS, { manifest })]);
    return [TEAMS, 4];
  },
  "secret groups": async (admin, data) => {
    const secrets = Array.from({ length: 4 }, (_, n) => ({ key: `k${n}`, value: "v" }));
    const groups = Array.from({ length: 6 }, (_, n) => ({ name: `g${n}`, integrationId: "builtin", secrets }));
    for (const group of groups) await made([admin.post(GROUPS, group)]);
    // As if each of them had thousands of versions.
    const filler = `{"filler":"${"x".repeat(500_000)}",`;
    await statement(data, "UPDATE secrets SET json = replace(json, '{\"id\"', ? || '\"id\"')", [filler]);
    return [GROUPS, 6];
  },
};

async function made(replies: readonly ReturnType<Caller["put"]>[]): Promise<void> {
  for (const { status, text } of await Promise.all(replies)) if (status !== 200) throw new Error(text.slice(0, 500));
}

test.each(Object.entries(lists))("S46 a page over the cap is refused with a limit that fits: %s", async (_, plant) => {
  const { admin, data } = await startControlPlane();
  const [path, total] = await plant(admin, data);
  let read = 0;
  while (read < total) {
    const refused = await admin.get(`${path}?limit=1000&offset=${read}`);
    if (refused.status === 200) {
      expect(read).toBeGreaterThan(0);
      read += refused.body.data.length;
      continue;
    }
    expect(refused).toMatchObject({ status: 413, body: { code: "reply-too-large", details: [{ pointer: "/limit" }] } });
    const limit = Number(/limit=(\d+)$/.exec(refused.body.message)?.[1]);
    const page = await admin.get(`${path}?limit=${limit}&offset=${read}`);
    expect({ status: page.status, rows: page.body.data?.length }).toEqual({ status: 200, rows: limit });
    expect(page.body.pagination).toEqual({ total, offset: read, limit });
    // It is never cut short, and not much smaller than it might be.
    expect(Buffer.byteLength(page.text)).toBeLessThanOrEqual(REPLY_CAP);
    expect(Buffer.byteLength(page.text)).toBeGreaterThan(REPLY_CAP / 2);
    read += limit;
  }
  expect(read).toBe(total);
});

test("S46 our client reads a list whose pages of 1,000 are over the cap", async () => {
  const plane = await startControlPlane();
  await lists.applications?.(plane.admin, plane.data);
  const { reader } = dial(plane.url, { token: () => plane.adminToken, requestTimeout: 30_000 });
  const rows = await reader.list("listApps", {}, calm);
  expect(rows.map(({ name }) => name).toSorted()).toEqual(Array.from({ length: 10 }, (_, n) => `api-${n}`));
});

test("S46 a write that no reply could show is refused before it has any effect", async () => {
  const plane = await startControlPlane();
  await plantWorkspace(plane.admin);
  await plane.admin.put("/api/svc/v1/ml-repos", { manifest: { type: "ml-repo", name: "support" } });
  const before = await effects(plane.data);
  const filler = "x".repeat(8_100_000);
  const messages = Array.from({ length: 9 }, () => ({ role: "system", content: "x".repeat(900_000) }));
  const writes = [
    [APPS, { ...service, env: env(62) }],
    [TEAMS, { type: "sso-team", name: "sso", filler }],
    [PROMPTS, { type: "chat_prompt", name: "p", ml_repo: "support", messages }],
    ["/api/ml/v1/model-versions", { type: "model-version", name: "m", ml_repo: "support", metadata: { filler } }],
  ] as const;
  for (const [path, manifest] of writes) {
    const refusal = { status: 413, body: { code: "reply-too-large" } };
    expect(await plane.admin.put(path, { manifest })).toMatchObject(refusal);
    expect(await keyed(plane, path, { manifest }, randomUUID())).toMatchObject(refusal);
    if (path.startsWith("/api/svc"))
      expect(await plane.admin.put(path, { manifest, dryRun: true })).toMatchObject(refusal);
    expect((await plane.admin.get(path)).body.pagination.total).toBe(0);
  }
  expect(await effects(plane.data)).toEqual(before);
});

test("S46 a resource just below the cap can be written, read, and grow by what its rollouts add", async () => {
  const plane = await startControlPlane();
  await plantWorkspace(plane.admin);
  const manifest = { ...service, env: env(59) };
  const { status, body } = await plane.admin.put(APPS, { manifest });
  expect(status).toBe(200);
  expect((await plane.admin.get(`${APPS}?limit=1`)).status).toBe(200);
  expect((await plane.admin.get(`${APPS}/${body.data.applicationId}/deployments?limit=1`)).status).toBe(200);
});

test("S46 a single resource that is too large, as older releases kept them, is 413 and nothing breaks", async () => {
  const { admin, data } = await startControlPlane();
  await plantWorkspace(admin);
  const filler = "x".repeat(9_000_000);
  await statement(data, "UPDATE clusters SET json = ? WHERE id = 'c1x'", [JSON.stringify({ id: "c1x", filler })]);
  for (const path of ["/api/svc/v1/clusters/c1x", "/api/svc/v1/clusters", "/api/svc/v1/clusters?limit=1"]) {
    const { status, body } = await admin.get(path);
    expect([path, status, body.code]).toEqual([path, 413, "reply-too-large"]);
  }
  expect((await admin.get("/api/svc/v1/workspaces")).status).toBe(200);
});

test("S46 a secret stays readable, however many large versions it has", async () => {
  const { admin } = await startControlPlane();
  const group = (value: string) => ({ manifest: { type: "secret-group", name: "g", secrets: [{ key: "k", value }] } });
  const first = await admin.put(GROUPS, group("a".repeat(1_000_000)));
  const { id } = first.body.data.associatedSecrets[0];
  for (let nth = 1; nth < 9; nth += 1)
    expect((await admin.put(GROUPS, group(String(nth).repeat(1_000_000)))).status).toBe(200);
  const { status, body } = await admin.get(`/api/svc/v1/secrets/${id}`);
  expect({ status, versions: body.data.secretVersions.length }).toEqual({ status: 200, versions: 9 });
  expect(body.data.value).toBe("8".repeat(1_000_000));
});

test("S46 of a reply that is too large to be kept, the key is remembered and a repeat is 409", async () => {
  const plane = await startControlPlane();
  await plantWorkspace(plane.admin);
  const [large, small] = [randomUUID(), randomUUID()];
  const body = { manifest: { ...service, env: env(3) } };
  expect((await keyed(plane, APPS, body, large)).status).toBe(200);
  const before = await effects(plane.data);
  expect(await keyed(plane, APPS, body, large)).toMatchObject({ status: 409, body: { code: "reply-not-kept" } });
  expect(await keyed(plane, APPS, { manifest: service }, large)).toMatchObject({
    status: 422,
    body: { code: "idempotency-key-reused" },
  });
  expect(await effects(plane.data)).toEqual(before);
  const first = await keyed(plane, APPS, { manifest: service }, small);
  expect((await keyed(plane, APPS, { manifest: service }, small)).text).toBe(first.text);
  const [{ bytes } = {}] = await statement(plane.data, "SELECT max(length(sealed)) AS bytes FROM kept_replies");
  expect(Number(bytes)).toBeLessThan(65_536);
});
