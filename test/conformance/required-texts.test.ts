import { expect, test } from "vitest";
import { startControlPlane } from "../control-plane.ts";
import { undoNewest } from "../support/earlier-schema.ts";
import { statement } from "../support/test-database.ts";
import { plantWorkspace, service } from "./platform.ts";

const never = "9999-12-31T23:59:59.999Z";
const teams = "/api/svc/v1/teams";
const accounts = "/api/svc/v1/virtual-accounts";

// Texts as an earlier release stored them, each with the member that follows it.
const before = [
  ["teams", '"description":"","tenantName":', '"description":null,"tenantName":'],
  ["deployments", '"transition":"","message":', '"transition":null,"message":'],
  ["job_runs", '"command":"","error":', '"command":null,"error":'],
  ["virtual_accounts", `"expiry":"${never}","createdAt":`, '"expiry":null,"createdAt":'],
] as const;

// Members without a value as an earlier release stored them.
const nulls = [
  ["deployments", '"transition":"DEPLOYING","state":', '"transition":"DEPLOYING","message":null,"state":'],
  ["job_runs", '"triggeredBy":', '"sparkUi":null,"triggeredBy":'],
  ["virtual_accounts", '"accountId":', '"nextScheduledRotation":null,"accountId":'],
  ["workspaces", '"isSystemWs":', '"environmentId":null,"isSystemWs":'],
] as const;

test("replies have no null but those of manifests, with data of an earlier release too", async () => {
  const first = await startControlPlane();
  const { admin, data } = first;
  await plantWorkspace(admin);
  await admin.put(teams, { manifest: { type: "team", name: "ml", members: ["ada@example.com"] } });
  const permission = { resource_type: "workspace", resource_fqn: "c1x:ws1", role_id: "workspace-viewer" };
  await admin.put(accounts, { manifest: { type: "virtual-account", name: "ci", permissions: [permission] } });
  const manifest = { ...service, type: "job", name: "train", env: null };
  const job = (await admin.put("/api/svc/v1/apps", { manifest, triggerOnDeploy: true })).body.data.applicationId;
  const runs = `/api/svc/v1/jobs/${job}/runs`;
  const deployments = `/api/svc/v1/apps/${job}/deployments`;
  await expect.poll(async () => (await admin.get(runs)).body.data[0]?.status).toBe("FINISHED");
  const paths = [teams, accounts, deployments, runs, "/api/svc/v1/workspaces"];
  const replies = () => Promise.all(paths.map(async (path) => (await admin.get(path)).body));
  const written = await replies();
  expect(written.map(({ data: [one] }) => one)).toMatchObject([
    { description: "" },
    { jwts: [{ expiry: never }] },
    { currentStatus: { transition: "" } },
    { command: "" },
    {},
  ]);
  await first.close();

  expect(JSON.stringify(written).match(/"\w+":null/g)).toEqual(['"env":null']);
  for (const [table, now, then] of [...nulls, ...before])
    await statement(data, `UPDATE ${table} SET json = REPLACE(json, '${now}', '${then}')`);
  await undoNewest(data);
  await statement(data, "DELETE FROM kysely_migration WHERE name >= '0050'");
  const second = await startControlPlane({ data });
  expect(await Promise.all(paths.map(async (path) => (await second.admin.get(path)).body))).toEqual(written);
});
