import { expect, test } from "vitest";
import { startControlPlane } from "../control-plane.ts";
import { statement } from "../support/databases.ts";
import { plantWorkspace, service } from "./platform.ts";

const never = "9999-12-31T23:59:59.999Z";
const teams = "/api/svc/v1/teams";
const accounts = "/api/svc/v1/virtual-accounts";

// What a release before has written, each with the member that follows it.
const before = [
  ["teams", '"description":"","tenantName":', '"description":null,"tenantName":'],
  ["deployments", '"transition":"","message":', '"transition":null,"message":'],
  ["job_runs", '"command":"","error":', '"command":null,"error":'],
  ["virtual_accounts", `"expiry":"${never}","createdAt":`, '"expiry":null,"createdAt":'],
] as const;

test("texts that clients take for granted are never null, those of an earlier release neither", async () => {
  const first = await startControlPlane();
  const { admin, data } = first;
  await plantWorkspace(admin);
  await admin.put(teams, { manifest: { type: "team", name: "ml", members: ["ada@example.com"] } });
  const permission = { resource_type: "workspace", resource_fqn: "c1x:ws1", role_id: "workspace-viewer" };
  await admin.put(accounts, { manifest: { type: "virtual-account", name: "ci", permissions: [permission] } });
  const manifest = { ...service, type: "job", name: "train" };
  const job = (await admin.put("/api/svc/v1/apps", { manifest, triggerOnDeploy: true })).body.data.applicationId;
  const runs = `/api/svc/v1/jobs/${job}/runs`;
  const deployments = `/api/svc/v1/apps/${job}/deployments`;
  await expect.poll(async () => (await admin.get(runs)).body.data[0]?.status).toBe("FINISHED");
  const paths = [teams, accounts, deployments, runs];
  const replies = () => Promise.all(paths.map(async (path) => (await admin.get(path)).body));
  const written = await replies();
  expect(written.map(({ data: [one] }) => one)).toMatchObject([
    { description: "" },
    { jwts: [{ expiry: never }] },
    { currentStatus: { transition: "" } },
    { command: "" },
  ]);
  await first.close();

  for (const [table, now, then] of before)
    await statement(data, `UPDATE ${table} SET json = REPLACE(json, '${now}', '${then}')`);
  await statement(data, "DELETE FROM kysely_migration WHERE name >= '0050'");
  const second = await startControlPlane({ data });
  expect(await Promise.all(paths.map(async (path) => (await second.admin.get(path)).body))).toEqual(written);
});
