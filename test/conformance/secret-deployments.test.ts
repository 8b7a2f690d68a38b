import { expect, test } from "vitest";
import { createSimulatedRollouts, type RolloutFailure } from "../../src/server/rollouts/simulated-rollouts.ts";
import { addUser, type Caller, startControlPlane } from "../control-plane.ts";
import { plantWorkspace, service } from "./platform.ts";

const GROUPS = "/api/svc/v1/secret-groups";
const env = { PASSWORD: "secret://holdfast:db:password" };
const mounts = [{ type: "secret", mount_path: "/etc/db", secret_fqn: "holdfast:db:password" }];

async function planted(failures: readonly RolloutFailure[] = []) {
  const rollouts = createSimulatedRollouts({ seconds: 0, failures: () => failures[0] ?? null });
  const plane = await startControlPlane({ rollouts });
  await plantWorkspace(plane.admin);
  const secrets = [
    { key: "password", value: "x" },
    { key: "unused", value: "y" },
  ];
  const { body } = await plane.admin.post(GROUPS, { name: "db", integrationId: "builtin", secrets });
  const [password, unused] = body.data.associatedSecrets;
  return { ...plane, path: pathOf(password.id), unused: pathOf(unused.id) };
}

const pathOf = (id: string) => `/api/svc/v1/secrets/${id}/deployments`;

const deploy = (admin: Caller, manifest: object) =>
  admin.put("/api/svc/v1/apps", { manifest: { ...service, ...manifest } });

const fqns = async (admin: Caller, path: string) => {
  const { data, pagination } = (await admin.get(path)).body;
  return [...data.map(({ fqn }: { fqn: string }) => fqn), pagination.total];
};

test("a secret's deployments are the active ones that mount it or name it in their environment", async () => {
  const { admin, path, unused } = await planted();
  expect(await fqns(admin, path)).toEqual([0]);
  await deploy(admin, { env });
  const second = await deploy(admin, { name: "web", mounts });
  await deploy(admin, { name: "other" });
  expect(await fqns(admin, path)).toEqual(["c1x:ws1:web:1", "c1x:ws1:api:1", 2]);
  expect(await fqns(admin, `${path}?limit=1&offset=1`)).toEqual(["c1x:ws1:api:1", 2]);
  expect((await admin.get(path)).body.data[0]).toEqual(second.body.data);
  expect(await fqns(admin, unused)).toEqual([0]);
});

test("a version that is no longer active is listed no more, a failed one never was", async () => {
  const failures: RolloutFailure[] = [];
  const { admin, path } = await planted(failures);
  await deploy(admin, { env });
  await deploy(admin, { env, replicas: 2 });
  expect(await fqns(admin, path)).toEqual(["c1x:ws1:api:2", 1]);
  failures.push("deploy");
  await deploy(admin, {});
  expect(await fqns(admin, path)).toEqual(["c1x:ws1:api:2", 1]);
  await deploy(admin, { name: "web", env });
  expect(await fqns(admin, path)).toEqual(["c1x:ws1:api:2", 1]);
  failures.pop();
  await deploy(admin, {});
  expect(await fqns(admin, path)).toEqual([0]);
});

test("who may not see the secret finds none", async () => {
  const plane = await planted();
  await deploy(plane.admin, { env });
  const absent = await plane.admin.get(pathOf("absent"));
  expect(absent.status).toBe(404);
  const stranger = await addUser(plane, "eve@example.com");
  expect((await stranger.get(plane.path)).body).toEqual(absent.body);
});
