import { expect, test } from "vitest";
import { systemClock } from "../../src/clock/system.ts";
import type { ControlPlaneOptions } from "../../src/server/control-plane.ts";
import { type Caller, startControlPlane, temporaryFolder } from "../control-plane.ts";
import { statement } from "../support/test-database.ts";
import { plantWorkspace, service } from "./platform.ts";

const apps = "/api/svc/v1/apps";
const DAY = 86_400_000;
const job = { type: "job", name: "nightly", workspace_fqn: "c1x:ws1", image: service.image };

/** A server whose clock is so many days behind. */
async function startedBefore(days: number, options: Partial<Omit<ControlPlaneOptions, "seed">>) {
  const now = () => systemClock.now() - days * DAY;
  return startControlPlane({ ...options, clock: { ...systemClock, now } });
}

/** Lets the next server prune at once, and starts it. */
async function startPruning(data: string, retention: ControlPlaneOptions["retention"] = {}) {
  await statement(data, "UPDATE retention SET due_at = 0");
  return startControlPlane({ data, retention });
}

const statuses = async (admin: Caller, id: string): Promise<readonly (readonly string[])[]> =>
  (await admin.get(`${apps}/${id}/deployments`)).body.data.map(
    ({ deploymentStatuses }: { deploymentStatuses: readonly { status: string }[] }) =>
      deploymentStatuses.map(({ status }) => status),
  );

const runNames = async (admin: Caller, id: string): Promise<readonly string[]> =>
  (await admin.get(`/api/svc/v1/jobs/${id}/runs`)).body.data.map(({ name }: { name: string }) => name);

async function run(admin: Caller): Promise<string> {
  return (await admin.put(apps, { manifest: job, triggerOnDeploy: true })).body.data.applicationId;
}

const whole = ["INITIALIZED", "ROLLOUT_STARTED", "DEPLOY_SUCCESS"];

test("of rollouts that ended long ago the last status stays, and everything of the others", async () => {
  const data = await temporaryFolder();
  const first = await startedBefore(91, { data });
  await plantWorkspace(first.admin);
  // More than a batch has.
  const ids = new Set<string>();
  for (let nth = 0; nth < 45; nth += 1) {
    ids.add(
      (await first.admin.put(apps, { manifest: { ...service, name: `app${nth % 30}` } })).body.data.applicationId,
    );
  }
  await first.close();
  const recent = await startedBefore(89, { data });
  const [id = ""] = ids;
  const { manifest } = (await recent.admin.put(apps, { manifest: { ...service, name: "app0" } })).body.data;
  await recent.close();
  const { admin } = await startPruning(data);
  const pruned = ["DEPLOY_SUCCESS"];
  await expect
    .poll(
      async () =>
        (await Promise.all([...ids].map((one) => statuses(admin, one)))).flat().filter((each) => each.length > 1),
      {
        timeout: 60_000,
      },
    )
    .toHaveLength(1);
  expect(await statuses(admin, id)).toEqual([whole, pruned, pruned]);
  const [, oldest] = (await admin.get(`${apps}/${id}/deployments`)).body.data;
  expect(oldest).toMatchObject({ manifest, currentStatus: { status: "DEPLOY_SUCCESS" } });
  expect(oldest.deploymentStatuses).toEqual([oldest.currentStatus]);
});

test("of each application the status history of the newest versions stays, up to a number", async () => {
  const data = await temporaryFolder();
  const first = await startControlPlane({ data });
  await plantWorkspace(first.admin);
  const ids = new Map<string, string>();
  for (const name of ["busy", "busy", "quiet", "busy", "busy"]) {
    ids.set(name, (await first.admin.put(apps, { manifest: { ...service, name } })).body.data.applicationId);
    const id = ids.get(name) ?? "";
    await expect.poll(async () => (await statuses(first.admin, id))[0], { timeout: 60_000 }).toEqual(whole);
  }
  await first.close();
  const { admin } = await startPruning(data, { histories: 2 });
  const pruned = ["DEPLOY_SUCCESS"];
  await expect
    .poll(() => statuses(admin, ids.get("busy") ?? ""), { timeout: 60_000 })
    .toEqual([whole, whole, pruned, pruned]);
  expect(await statuses(admin, ids.get("quiet") ?? "")).toEqual([whole]);
});

test("runs of jobs that ended long ago go, except for the newest of each job", async () => {
  const data = await temporaryFolder();
  const first = await startedBefore(91, { data });
  await plantWorkspace(first.admin);
  const id = await run(first.admin);
  for (let nth = 0; nth < 2; nth += 1) await run(first.admin);
  await first.close();
  const { admin } = await startPruning(data);
  await expect.poll(() => runNames(admin, id), { timeout: 60_000 }).toEqual(["nightly-3-1"]);
});

test("of each job the newest runs stay, up to a number", async () => {
  const data = await temporaryFolder();
  const first = await startControlPlane({ data });
  await plantWorkspace(first.admin);
  const id = await run(first.admin);
  for (let nth = 0; nth < 4; nth += 1) await run(first.admin);
  await first.close();
  const { admin } = await startPruning(data, { runs: 2 });
  await expect.poll(() => runNames(admin, id), { timeout: 60_000 }).toEqual(["nightly-5-1", "nightly-4-1"]);
});

test("replies for idempotency keys go after a day, and the oldest beyond a number", async () => {
  const data = await temporaryFolder();
  const kept = async () =>
    (await statement(data, "SELECT key_hash FROM kept_replies ORDER BY kept_until")).map((row) => String(row.key_hash));
  const write = async (plane: Awaited<ReturnType<typeof startControlPlane>>, nth: number) => {
    const response = await fetch(`${plane.url}/api/svc/v1/teams`, {
      method: "PUT",
      headers: {
        authorization: `Bearer ${plane.adminToken.open()}`,
        "content-type": "application/json",
        "idempotency-key": `a-key-of-this-test-${nth}`,
      },
      body: JSON.stringify({ manifest: { type: "team", name: `team-${nth}`, members: ["ada@example.com"] } }),
    });
    expect(response.status).toBe(200);
  };
  const old = await startedBefore(2, { data });
  for (let nth = 0; nth < 250; nth += 1) await write(old, nth);
  await old.close();
  const recent = await startControlPlane({ data });
  for (let nth = 250; nth < 256; nth += 1) await write(recent, nth);
  await recent.close();
  const before = await kept();
  const all = await startPruning(data);
  await expect.poll(kept, { timeout: 60_000 }).toEqual(before.slice(-6));
  await all.close();
  await startPruning(data, { replies: 4 });
  await expect.poll(kept, { timeout: 60_000 }).toEqual(before.slice(-4));
});

test("rows of the audit log go after a time and beyond a number, never those of the last hour, and leave signed marks", async () => {
  const data = await temporaryFolder();
  const put = async (admin: Caller, name: string) =>
    admin.put("/api/svc/v1/teams", { manifest: { type: "team", name, members: ["ada@example.com"] } });
  const written = async () =>
    (await statement(data, "SELECT resource FROM audit ORDER BY id"))
      .map(({ resource }) => String(resource))
      .filter((resource) => resource.startsWith("team/"));
  const marks = async () => statement(data, "SELECT number FROM audit_marks WHERE kind = 'pruned'");
  for (const [days, name] of [
    [366, "oldest"],
    [3, "older"],
    [2, "old"],
    [0, "new"],
    [0, "newest"],
  ] as const) {
    const plane = await startedBefore(days, { data });
    expect(await put(plane.admin, name)).toMatchObject({ status: 200 });
    await plane.close();
  }
  const byAge = await startPruning(data);
  await expect.poll(written, { timeout: 60_000 }).toEqual(["team/older", "team/old", "team/new", "team/newest"]);
  expect(await marks()).toHaveLength(1);
  await byAge.close();
  await startPruning(data, { auditRows: 1 });
  await expect.poll(written, { timeout: 60_000 }).toEqual(["team/new", "team/newest"]);
  expect(await marks()).toHaveLength(3);
});
