import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import type { Secret } from "../../../src/contract/secret.ts";
import { createLog } from "../../../src/log/log.ts";
import { cluster, plantWorkspace, service, workspace } from "../../conformance/platform.ts";
import { caller, startControlPlane, temporaryFolder } from "../../control-plane.ts";
import { limitFiles, mountSmallDisk, type SmallDisk, serveLimitable } from "../../support/full-disk.ts";

const APPS = "/api/svc/v1/apps";

/** Sends writes of all sorts at once, and answers how each was answered. */
async function writeAll({ url, token }: { readonly url: string; readonly token: Secret }, round: string) {
  const headers = { authorization: `Bearer ${token.open()}`, "content-type": "application/json" };
  const put = async (path: string, manifest: object, more: Record<string, string> = {}) => {
    const body = JSON.stringify({ manifest });
    const reply = await fetch(url + path, { method: "PUT", headers: { ...headers, ...more }, body });
    const { code } = (await reply.json()) as { readonly code?: string };
    return { status: reply.status, code, retryAfter: reply.headers.get("retry-after") };
  };
  const env = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`V${n}`, "x".repeat(100_000)]));
  return Promise.all([
    put("/api/svc/v1/clusters", { ...cluster, name: `c-${round}` }),
    // More than the cache of the database holds: it writes before it commits.
    put(APPS, { ...service, name: `large-${round}`, env }),
    put(APPS, { ...service, name: `keyed-${round}` }, { "idempotency-key": `a-key-of-this-round-${round}` }),
    put(APPS, { ...service, name: `fenced-${round}`, env }, { "x-fencing-token": "1", "x-fencing-scope": "holdfast" }),
    put("/api/svc/v1/workspaces", { ...workspace, name: `w-${round}` }),
  ]);
}

async function fillsUp(serving: { readonly url: string; readonly token: Secret }, data: string, disk: SmallDisk) {
  const ready = async () => {
    const reply = await fetch(`${serving.url}/readyz`);
    return [reply.status, await reply.json()];
  };
  const admin = caller(serving.url, serving.token);
  await plantWorkspace(admin);
  const lease = await admin.put("/api/svc/v1/leases/holdfast", { holder: "a", ttlSeconds: 600 });
  expect(lease.body.data.fencingToken).toBe(1);
  expect(await ready()).toEqual([200, { status: "ready" }]);
  for (const round of ["one", "two"]) {
    // What the log of the database has taken up already it may use again.
    truncateLog(data);
    disk.fill();
    const refused = { status: 507, code: "storage-full", retryAfter: "10" };
    for (const _ of [1, 2]) expect(await writeAll(serving, round)).toEqual(Array(5).fill(refused));
    expect(await ready()).toEqual([200, { status: "ready", degraded: "storage-full" }]);
    // What is there can be read all the while, and a dry run writes nothing.
    expect((await admin.get("/api/svc/v1/workspaces")).status).toBe(200);
    expect((await admin.put(APPS, { manifest: service, dryRun: true })).status).toBe(200);
    disk.free();
    await expect.poll(ready, { interval: 10 }).toEqual([200, { status: "ready" }]);
    expect((await writeAll(serving, round)).map(({ status }) => status)).toEqual(Array(5).fill(200));
  }
  expect((await admin.get(`${APPS}?limit=1`)).body.pagination.total).toBe(6);
  using database = new DatabaseSync(join(data, "control-plane.db"));
  expect(database.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
}

function truncateLog(data: string): void {
  using database = new DatabaseSync(join(data, "control-plane.db"), { timeout: 5000 });
  expect(database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()).toMatchObject({ busy: 0 });
}

/** One line says that there is no room, however many writes were refused, and none tells of what was not there to be rolled back. */
function checkLog(lines: readonly string[]): void {
  const told = lines.map((line) => JSON.parse(line));
  const full = told.filter(({ event }) => event === "degraded");
  expect(full[0]).toMatchObject({ reason: "storage-full", cause: expect.any(String) });
  // Where the check of the storage takes two seconds on a busy machine, it has no cause, and what it was before is said again.
  const [slow = [], others = []] = [true, false].map((isSlow) =>
    told.filter(({ event, cause }) => event === "not-ready" && (cause === null) === isSlow),
  );
  expect(others).toEqual([]);
  // The disk fills up twice.
  expect(full.length).toBeLessThanOrEqual(2 + slow.length);
  expect(lines.join("")).not.toContain('"err"');
  expect(lines.join("")).not.toMatch(/no transaction|savepoint/i);
}

test("F82 on a full disk writes are 507, /readyz stays ready for reads and says why it is degraded, and it works again when there is space", async ({
  skip,
}) => {
  const disk = await mountSmallDisk(40_000);
  if ("reason" in disk) return skip(disk.reason);
  const lines: string[] = [];
  const log = createLog({ level: "info", stream: { write: (line) => lines.push(line) } });
  const data = join(disk.folder, "data");
  const { url, adminToken } = await startControlPlane({ data, log });
  await fillsUp({ url, token: adminToken }, data, disk);
  checkLog(lines);
});

test("F82 so they are past a quota, or a limit on the size of files", async ({ skip }) => {
  const data = join(await temporaryFolder(), "data");
  const serving = await serveLimitable(data);
  const disk = limitFiles(serving.child, data);
  if ("reason" in disk) return skip(disk.reason);
  await fillsUp(serving, data, disk);
  checkLog(serving.log().trim().split("\n"));
});

test("F82 without any room it does not start, and says why", async ({ skip }) => {
  const disk = await mountSmallDisk(4000);
  if ("reason" in disk) return skip(disk.reason);
  const data = join(disk.folder, "data");
  const { close } = await startControlPlane({ data });
  await close();
  disk.fill();
  await expect(startControlPlane({ data })).rejects.toThrow(/no space is left/);
  disk.free();
  await startControlPlane({ data });
});
