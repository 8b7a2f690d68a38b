import { expect, test } from "vitest";
import { createSimulatedRollouts } from "../../src/server/rollouts/simulated-rollouts.ts";
import { type Caller, effects, startControlPlane, temporaryFolder } from "../control-plane.ts";
import { plantWorkspace, service } from "./platform.ts";

const apps = "/api/svc/v1/apps";
const failuresPath = "/api/svc/v1/rollout-failures";

async function current(admin: Caller, name: string) {
  const [app] = (await admin.get(`${apps}?fqn=c1x:ws1:${name}`)).body.data;
  return app.deployment.currentStatus;
}

/** Sets the failures; returns what the call answers. */
async function setFailures(admin: Caller, failures: readonly object[]) {
  return admin.put(failuresPath, { failures });
}

test("a simulated rollout says so in the messages of its first and its last status", async () => {
  const { admin } = await startControlPlane();
  await plantWorkspace(admin);
  const { deploymentStatuses } = (await admin.put(apps, { manifest: service })).body.data;
  const messages = deploymentStatuses.map(({ message }: { message?: string }) => message ?? null);
  expect(messages).toEqual(["simulated: no cluster runs it", null, "simulated: no cluster runs it"]);
});

test("failures that are set hold for the next deployments, on a restarted server too, until they are replaced", async () => {
  const data = await temporaryFolder();
  const first = await startControlPlane({ data });
  await plantWorkspace(first.admin);
  const failures = [{ match: "service/c1x:ws1/api", failure: "deploy" }];
  expect(await setFailures(first.admin, failures)).toMatchObject({ status: 200, body: { data: { failures } } });
  expect((await first.admin.put(apps, { manifest: service })).body.data.currentStatus).toMatchObject({
    status: "DEPLOY_FAILED",
    message: "simulated: the rollout failed",
  });
  const other = await first.admin.put(apps, { manifest: { ...service, name: "other" } });
  expect(other.body.data.currentStatus.status).toBe("DEPLOY_SUCCESS");
  await first.close();
  const { admin } = await startControlPlane({ data });
  expect((await admin.put(apps, { manifest: service })).body.data.currentStatus.status).toBe("DEPLOY_FAILED");
  await setFailures(admin, []);
  expect((await admin.put(apps, { manifest: service })).body.data.currentStatus.status).toBe("DEPLOY_SUCCESS");
  // The same failures again are no effect.
  await setFailures(admin, []);
  const set = (await effects(data)).filter((effect) => effect.includes(" E19 "));
  expect(set).toEqual(Array(2).fill("user:admin E19 rollout-failures/holdfast"));
});

test("a rollout that is stuck goes on when its failure is taken away, or the server starts without it", async () => {
  const data = await temporaryFolder();
  const rules = [{ match: "service/*/second", failure: "stuck" }] as const;
  const first = await startControlPlane({ data, rolloutFailures: rules });
  await plantWorkspace(first.admin);
  await setFailures(first.admin, [{ match: "service/*/api", failure: "stuck" }]);
  await first.admin.put(apps, { manifest: service });
  await first.admin.put(apps, { manifest: { ...service, name: "second" } });
  expect((await current(first.admin, "api")).status).toBe("ROLLOUT_STARTED");
  await setFailures(first.admin, []);
  await expect.poll(async () => (await current(first.admin, "api")).status).toBe("DEPLOY_SUCCESS");
  expect((await current(first.admin, "second")).status).toBe("ROLLOUT_STARTED");
  await first.close();
  const { admin } = await startControlPlane({ data });
  await expect.poll(async () => (await current(admin, "second")).status, { timeout: 30_000 }).toBe("DEPLOY_SUCCESS");
});

test("rules that are no rules are refused with their place, and change nothing", async () => {
  const { admin, data } = await startControlPlane();
  const bad = [
    [[{ match: "", failure: "deploy" }], "/failures/0/match"],
    [[{ match: "x".repeat(257), failure: "deploy" }], "/failures/0/match"],
    [[{ match: "*", failure: "explode" }], "/failures/0/failure"],
    [[{ match: "*", failure: "deploy", afterSeconds: -1 }], "/failures/0/afterSeconds"],
    [[{ match: "*", failure: "deploy", afterSeconds: "30" }], "/failures/0/afterSeconds"],
    [[{ match: "*", failure: "deploy" }, "deploy"], "/failures/1"],
    [[{ match: "*", failure: "deploy", after: 3 }], "/failures/0/after"],
    [Array(101).fill({ match: "*", failure: "deploy" }), "/failures"],
  ] as const;
  for (const [failures, pointer] of bad) {
    expect(await setFailures(admin, failures as never)).toMatchObject({
      status: 422,
      body: { details: [{ pointer }] },
    });
  }
  expect((await effects(data)).filter((effect) => effect.includes(" E19 "))).toEqual([]);
});

test("a server whose rollouts are not simulated sets no failures", async () => {
  const { begin, observe } = createSimulatedRollouts({ seconds: 0 });
  const { admin } = await startControlPlane({ rollouts: { begin, observe } });
  expect(await setFailures(admin, [])).toMatchObject({ status: 409, body: { code: "not-simulated" } });
});
