import { once } from "node:events";
import { request } from "node:http";
import { expect, inject, test } from "vitest";
import {
  fillPath,
  isDocumented,
  type Operation,
  type OperationName,
  operation,
  operations,
} from "../../src/contract/operations.ts";
import { resources } from "../../src/server/resources/index.ts";
import { type Caller, startControlPlane } from "../control-plane.ts";
import { plantWorkspace, service } from "./platform.ts";

const names = Object.keys(operations) as OperationName[];
const isServed = (name: OperationName) => resources.some(({ operations: own }) => own.some((one) => one.name === name));

function pathOf({ path }: Operation): string {
  return fillPath(path, { id: "x", name: "x", jobId: "x", jobRunName: "x", scope: "x" });
}

/** A body whose form is right, if anything. */
function bodyOf({ body }: Operation): Record<string, unknown> | undefined {
  if (body === undefined) return undefined;
  const samples = { object: {}, string: "x", list: [], integer: 1, boolean: true };
  const required = Object.entries(body).filter(([, member]) => member.required === true);
  return Object.fromEntries(required.map(([name, member]) => [name, samples[member.is]]));
}

function call(caller: Caller, { method, ...row }: Operation, path: string, body: unknown = bodyOf({ method, ...row })) {
  if (method === "GET") return caller.get(path);
  return method === "PUT" ? caller.put(path, body) : caller.post(path, body);
}

test("every operation is served", () => {
  expect(names.filter((name) => !isServed(name))).toEqual([]);
});

test("with the extensions, every operation has a route that needs a token", async () => {
  const { url, admin } = await startControlPlane();
  for (const name of names) {
    const row = operation(name);
    const reply = await call(admin, row, pathOf(row));
    expect([name, reply.body.code]).not.toBeOneOf([
      [name, "route-not-found"],
      [name, "method-not-allowed"],
    ]);
    if (!isServed(name)) expect([name, reply.status, reply.body.code]).toEqual([name, 501, "not-implemented"]);
    else expect(reply.status, name).toBeLessThan(500);
    if (reply.status !== 200)
      expect(reply.body, name).toMatchObject({ statusCode: reply.status, message: expect.any(String) });

    const stranger = await fetch(url + pathOf(row), { method: row.method });
    expect([name, stranger.status]).toEqual([name, 401]);
    expect(stranger.headers.get("www-authenticate"), name).toMatch(/^Bearer/);
    expect(await stranger.json(), name).toMatchObject({ statusCode: 401, code: "unauthorized" });
  }
});

test("with the documented ones alone, no extension has a route", async () => {
  const { admin } = await startControlPlane({ documentedOnly: true });
  for (const name of names) {
    const row = operation(name);
    const { status, body } = await call(admin, row, pathOf(row));
    const isAbsent = status === 405 || body.code === "route-not-found";
    expect([name, isAbsent]).toEqual([name, !isDocumented(row)]);
  }
});

test("a method that a path does not take is 405, and says which it takes", async () => {
  const { url, adminToken } = await startControlPlane();
  const headers = { authorization: `Bearer ${adminToken.open()}` };
  for (const path of new Set(names.map((name) => operation(name).path))) {
    const reply = await fetch(url + pathOf({ ...operation("getCluster"), path }), { method: "DELETE", headers });
    expect(reply.status).toBe(405);
    const methods = names.map(operation).filter((row) => row.path === path);
    expect(reply.headers.get("allow")?.split(", ").toSorted()).toEqual(methods.map(({ method }) => method).toSorted());
  }
});

test("every list takes limit and offset, within their limits", async () => {
  const { admin } = await startControlPlane();
  await plantWorkspace(admin);
  const secrets = [{ key: "k", value: "v" }];
  const group = await admin.post("/api/svc/v1/secret-groups", { name: "g", integrationId: "builtin", secrets });
  const app = await admin.put("/api/svc/v1/apps", { manifest: service });
  const job = await admin.put("/api/svc/v1/apps", { manifest: { ...service, type: "job", name: "nightly" } });
  const ids: { readonly [name: string]: string } = {
    listSecretDeployments: group.body.data.associatedSecrets[0].id,
    listDeployments: app.body.data.applicationId,
    listAddons: "c1x",
  };
  for (const name of names.filter((one) => operation(one).reply === "list" && isServed(one))) {
    const path = fillPath(operation(name).path, { id: ids[name] ?? "", jobId: job.body.data.applicationId });
    const page = await admin.get(`${path}?limit=1000&offset=5000&unknown=1&unknown=2`);
    expect([name, page.status]).toEqual([name, 200]);
    expect(page.body).toEqual({ data: [], pagination: { total: expect.any(Number), offset: 5000, limit: 1000 } });
    expect((await admin.get(path)).body.pagination).toMatchObject({ offset: 0, limit: 100 });
    for (const query of [
      "limit=0",
      "limit=1001",
      "limit=1e3",
      "limit=",
      "limit=1&limit=2",
      "offset=-1",
      "offset=%00",
      "a=%",
    ]) {
      expect([name, query, (await admin.get(`${path}?${query}`)).status]).toEqual([name, query, 400]);
    }
  }
});

test("every write refuses bodies of the wrong form", async ({ skip }) => {
  if (inject("postgres")) skip("it is refused before the database is asked: the same test runs on SQLite");
  const { url, admin, adminToken } = await startControlPlane();
  const writes = names.filter((name) => operation(name).body !== undefined && isServed(name));
  for (const name of writes) {
    const row = operation(name);
    const send = (body: string, type = "application/json") =>
      fetch(url + pathOf(row), {
        method: row.method,
        body: Buffer.from(body),
        headers: { authorization: `Bearer ${adminToken.open()}`, "content-type": type },
      });
    const statuses = await Promise.all(
      [
        send("{"),
        send("[]"),
        send("null"),
        send('"x"'),
        send("{}"),
        send("{}", "text/plain"),
        send(`"${"x".repeat(8 * 1024 * 1024)}"`),
      ].map(async (reply) => (await reply).status),
    );
    expect([name, ...statuses]).toEqual([name, 400, 400, 400, 400, 400, 415, 413]);
    const extra = await call(admin, row, pathOf(row), { ...bodyOf(row), tenantName: "other" });
    expect(extra).toMatchObject({ status: 400, body: { details: [{ pointer: "/tenantName" }] } });
    for (const [member, form] of Object.entries(row.body ?? {})) {
      const wrong = form.is === "string" ? 1 : "true";
      const reply = await call(admin, row, pathOf(row), { ...bodyOf(row), [member]: wrong });
      expect([name, member, reply.status]).toEqual([name, member, 400]);
    }
  }
});

test("a manifest of another kind is refused by every operation that takes one", async () => {
  const { admin } = await startControlPlane();
  for (const name of names.filter((one) => operation(one).body?.manifest !== undefined && isServed(one))) {
    const row = operation(name);
    for (const manifest of [{}, { type: 1 }, { type: "secret-group", name: "x" }, { type: "__proto__" }]) {
      // Applications may be of types that nobody knows yet.
      const reply = await call(admin, row, pathOf(row), { manifest });
      expect([name, manifest, reply.status]).toEqual([name, manifest, 422]);
      expect(reply.body.details.length).toBeGreaterThan(0);
    }
  }
});

test("a broken or NUL path parameter is 400, a strange one 404", async () => {
  const { admin } = await startControlPlane();
  expect((await admin.get("/api/svc/v1/clusters/%00")).status).toBe(400);
  expect((await admin.get("/api/svc/v1/clusters/%zz")).status).toBe(400);
  for (const id of ["x%27%20OR%201%3D1--", "%25", "_", "*", "a%2Fb", "%F0%9F%90%99"]) {
    expect(await admin.get(`/api/svc/v1/clusters/${id}`)).toMatchObject({ status: 404, body: { code: "not-found" } });
  }
});

test("a second Authorization header, a token in the query or one that was never given is 401", async () => {
  const { url, adminToken } = await startControlPlane();
  const token = adminToken.open();
  const status = async (path: string, values: readonly string[]) => {
    const headers = ["Host", new URL(url).host, ...values.flatMap((value) => ["Authorization", value])];
    const sent = request(url + path, { headers }).end();
    const [reply] = await once(sent, "response");
    reply.resume();
    return reply.statusCode;
  };
  const path = "/api/svc/v1/workspaces";
  expect(await status(path, [`bearer ${token}`])).toBe(200);
  expect(await status(path, [`Bearer ${token}`, `Bearer ${token}`])).toBe(401);
  expect(await status(path, [`Bearer ${token}`, "Basic eA=="])).toBe(401);
  expect(await status(`${path}?access_token=${token}&token=${token}`, [])).toBe(401);
  expect(await status(path, [`Bearer ${token}x`])).toBe(401);
  expect(await status(path, [`Basic ${token}`])).toBe(401);
  expect(await status(path, ["Bearer a.b.c"])).toBe(401);
});
