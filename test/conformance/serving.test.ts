import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { operations } from "../../src/contract/operations.ts";
import { Secret } from "../../src/contract/secret.ts";
import { addUser, startControlPlane, temporaryFolder } from "../control-plane.ts";
import { keptLog } from "../support/kept-log.ts";
import { standingClock } from "../support/standing-clock.ts";
import { createAuthority } from "../unit/client/certificate.ts";
import { cluster, plantWorkspace, service } from "./platform.ts";

const workspaces = "/api/svc/v1/workspaces";

test("every operation has its metrics from the start, and every request is counted with its own", async () => {
  const { admin, url } = await startControlPlane();
  const scrape = async () => (await fetch(`${url}/metrics`)).text();
  const before = await scrape();
  for (const name of Object.keys(operations)) {
    expect(before).toContain(`holdfast_http_requests_total{operation="${name}",status="2xx"} 0\n`);
  }
  await plantWorkspace(admin);
  await admin.get("/api/svc/v1/clusters/absent");
  await fetch(url + workspaces);
  const after = await scrape();
  for (const line of [
    'holdfast_http_requests_total{operation="putCluster",status="2xx"} 1',
    'holdfast_http_requests_total{operation="putWorkspace",status="2xx"} 1',
    'holdfast_http_refusals_total{operation="getCluster",status="404"} 1',
    'holdfast_http_refusals_total{operation="listWorkspaces",status="401"} 1',
  ]) {
    expect(after).toContain(`${line}\n`);
  }
});

test("a caller above the rate limit is told when to retry, and no other caller is", async () => {
  const { clock, pass } = standingClock();
  const plane = await startControlPlane({ rateLimit: 3, clock });
  const dev = await addUser(plane, "dev@example.com");
  const replies = await Promise.all(Array.from({ length: 8 }, () => dev.get(workspaces)));
  const refused = replies.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(5);
  expect(refused[0]?.headers.get("retry-after")).toBe("1");
  expect(refused[0]?.body).toMatchObject({ statusCode: 429, code: "rate-limited" });
  expect((await plane.admin.get(workspaces)).status).toBe(200);
  pass(1000);
  expect((await dev.get(workspaces)).status).toBe(200);
});

test("requests for leases do not count for the rate limit, and have one of their own", async () => {
  const plane = await startControlPlane({ rateLimit: 1, clock: standingClock().clock });
  const holder = { holder: "a", ttlSeconds: 60 };
  const renew = () => plane.admin.put("/api/svc/v1/leases/main", holder);
  expect((await plane.admin.get(workspaces)).status).toBe(200);
  expect((await plane.admin.get(workspaces)).status).toBe(429);
  const flood = await Promise.all(Array.from({ length: 25 }, async () => (await renew()).status));
  expect(flood.toSorted()).toEqual([...Array(20).fill(200), ...Array(5).fill(429)]);
});

test("unauthenticated requests are limited by address, and authenticated callers are not affected", async () => {
  const plane = await startControlPlane({ rateLimit: 2, clock: standingClock().clock });
  const ask = (token: string | null) =>
    fetch(plane.url + workspaces, token === null ? {} : { headers: { authorization: `Bearer ${token}` } });
  const replies = await Promise.all([null, "a-guess", null, "another-guess", null, "a-guess"].map(ask));
  const statuses = replies.map(({ status }) => status);
  expect(statuses.toSorted()).toEqual([401, 401, 429, 429, 429, 429]);
  expect(replies.find(({ status }) => status === 429)?.headers.get("retry-after")).toBe("1");
  expect((await plane.admin.get(workspaces)).status).toBe(200);
});

test("a certificate that has expired is a warning at the start", async () => {
  const folder = await temporaryFolder();
  const files = { certificate: join(folder, "tls.crt"), key: join(folder, "tls.key") };
  const { cert, key } = createAuthority().issue("server.example.com", Date.UTC(2026, 0, 1));
  await Promise.all([writeFile(files.certificate, cert), writeFile(files.key, key)]);
  const { log, entries } = keptLog();
  await startControlPlane({ tls: files, log });
  const warning = { level: "warn", certificate: files.certificate, expired: "2026-01-01T00:00:00.000Z" };
  expect(entries()).toContainEqual(expect.objectContaining({ ...warning, msg: "the certificate has expired" }));
});

test("S34 every reply is one line of log, and nothing secret is in any of them", async () => {
  const { log, lines, entries } = keptLog();
  const { admin, url, adminToken } = await startControlPlane({ log });
  await plantWorkspace(admin);
  const env = { PASSWORD: "CANARY-env" };
  await admin.put("/api/svc/v1/apps", { manifest: { ...service, env } });
  await admin.put("/api/svc/v1/apps", { manifest: { ...service, env, replicas: "CANARY-wrong" } });
  const secrets = [{ key: "k", value: "CANARY-value" }];
  const group = (await admin.post("/api/svc/v1/secret-groups", { name: "g", integrationId: "builtin", secrets })).body;
  await admin.get(`/api/svc/v1/secrets/${group.data.associatedSecrets[0].id}?token=CANARY-query`);
  const permissions = [{ resource_fqn: "holdfast", resource_type: "tenant", role_id: "tenant-member" }];
  const account = (
    await admin.put("/api/svc/v1/virtual-accounts", { manifest: { type: "virtual-account", name: "ci", permissions } })
  ).body;
  const personal = (await admin.get("/api/svc/v1/personal-access-tokens/mine")).body;
  await fetch(url + workspaces, { headers: { authorization: "Bearer CANARY-token" } });
  await fetch(`${url}/CANARY-path`, { headers: { "x-other": "CANARY-header" } });
  await fetch(`${url}/api/svc/v1/clusters`, {
    method: "PUT",
    headers: {
      authorization: `Bearer ${adminToken.open()}`,
      "content-type": "application/json",
      "idempotency-key": "CANARY-key-0123456789",
      "x-request-id": "request-1",
    },
    body: JSON.stringify({ manifest: cluster }),
  });
  const text = lines.join("");
  for (const secret of ["CANARY", adminToken.open(), account.token, personal.token]) expect(text).not.toContain(secret);
  const answered = entries().filter(({ msg }) => msg === "answered");
  expect(answered).toHaveLength(11);
  expect(answered.at(-1)).toMatchObject({
    reqId: "request-1",
    operation: "putCluster",
    method: "PUT",
    route: "/api/svc/v1/clusters",
    status: 200,
    ms: expect.any(Number),
    caller: "user:admin",
  });
  expect(answered.at(-2)).toMatchObject({ operation: "other", route: null, status: 404, caller: null });
});

test("before it closes it says that it is not ready, and goes on answering", async () => {
  const ending = new AbortController();
  const plane = await startControlPlane({ drainSeconds: 600, ending: ending.signal });
  const closing = plane.close();
  await expect.poll(async () => (await fetch(`${plane.url}/readyz`)).status, { interval: 5 }).toBe(503);
  expect((await plane.admin.put("/api/svc/v1/clusters", { manifest: cluster })).status).toBe(200);
  ending.abort();
  await closing;
  await expect(fetch(`${plane.url}/readyz`)).rejects.toThrow();
});

test("an administrator's token that no client could send is refused at the start", async () => {
  for (const token of [
    "with a space, and long enough",
    "ünïcode-that-is-long",
    "brackets{}-that-are-long",
    "=starts-with-it-now",
  ])
    await expect(startControlPlane({ adminToken: new Secret(token) })).rejects.toThrow("of letters, digits and");
});
