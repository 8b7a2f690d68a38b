import { expect, test } from "vitest";
import type { RunDriver } from "../../src/server/resources/job-run/run-driver.ts";
import { createSimulatedRuns, type RunFailure } from "../../src/server/resources/job-run/simulated-runs.ts";
import { createSimulatedRollouts, type RolloutFailure } from "../../src/server/rollouts/simulated-rollouts.ts";
import { addUser, type Caller, effects, startControlPlane } from "../control-plane.ts";
import { plantWorkspace, service, workspace } from "./platform.ts";

const image = {
  type: "build",
  build_source: { type: "remote", remote_uri: "https://example.com/a.tgz" },
  build_spec: {
    type: "dockerfile",
    dockerfile_path: "Dockerfile",
    build_context_path: ".",
    command: "python train.py",
  },
};
const job = { type: "job", name: "train", workspace_fqn: "c1x:ws1", image, retries: 3 };

async function planted(options: Parameters<typeof startControlPlane>[0] = {}) {
  const plane = await startControlPlane(options);
  await plantWorkspace(plane.admin);
  return plane;
}

const deploy = async (caller: Caller, more: object = { triggerOnDeploy: true }) =>
  (await caller.put("/api/svc/v1/apps", { manifest: job, ...more })).body.data;

/** Runs of a second that get no further than to so many milliseconds, so that a busy machine sees where they are. */
function runsAt(ms: () => number): RunDriver {
  const driver = createSimulatedRuns({ seconds: 1 });
  return {
    observe: async (run, now) => {
      const observed = await driver.observe(run, Math.min(now, run.startedAt + ms()));
      return observed.dueAt === null ? observed : { ...observed, dueAt: now + 20 };
    },
  };
}

const runsPath = (jobId: string) => `/api/svc/v1/jobs/${jobId}/runs`;

const runs = async (caller: Caller, jobId: string) => (await caller.get(runsPath(jobId))).body.data;

const names = async (caller: Caller, jobId: string) =>
  (await runs(caller, jobId)).map(({ name }: { name: string }) => name);

test("a run starts once a job is deployed, if that is wished, and is read by its name", async () => {
  const { admin, data } = await planted();
  const { applicationId, createdBySubject } = await deploy(admin, {});
  expect(await names(admin, applicationId)).toEqual([]);
  await deploy(admin);
  const [run] = await runs(admin, applicationId);
  expect(run).toEqual({
    name: "train-2-1",
    applicationName: "train",
    deploymentVersion: "2",
    command: "python train.py",
    triggeredBy: "admin",
    triggeredBySubject: createdBySubject,
    createdAt: expect.any(Number),
    endTime: run.createdAt,
    duration: 0,
    totalRetries: 0,
    exitCode: 0,
    status: "FINISHED",
  });
  expect(Math.abs(run.createdAt - Date.now())).toBeLessThan(60_000);
  expect((await admin.get(`${runsPath(applicationId)}/train-2-1`)).body).toEqual({ data: run });
  await deploy(admin);
  expect(await names(admin, applicationId)).toEqual(["train-3-1", "train-2-1"]);
  expect((await admin.get(`${runsPath(applicationId)}?limit=1&offset=1`)).body).toEqual({
    data: [run],
    pagination: { total: 2, offset: 1, limit: 1 },
  });
  expect((await effects(data)).filter((effect) => effect.includes("job-run"))).toEqual([
    "user:admin 16 job-run/c1x:ws1:train/train-2-1",
    "user:admin 16 job-run/c1x:ws1:train/train-3-1",
  ]);
});

test("a dry run starts no run, and a service has none", async () => {
  const { admin } = await planted();
  const { applicationId } = await deploy(admin, {});
  await deploy(admin, { dryRun: true, triggerOnDeploy: true });
  expect(await names(admin, applicationId)).toEqual([]);
  const api = (await admin.put("/api/svc/v1/apps", { manifest: service, triggerOnDeploy: true })).body.data;
  expect((await admin.get(runsPath(api.applicationId))).body).toMatchObject({ statusCode: 404, code: "not-found" });
});

test("a run goes through its statuses in real time, after the rollout", async () => {
  let atMs = 0;
  const runs = runsAt(() => atMs);
  const { admin } = await planted({ rollouts: createSimulatedRollouts({ seconds: 0.2 }), runs });
  const { applicationId, currentStatus } = await deploy(admin);
  expect(currentStatus.state.isTerminalState).toBe(false);
  expect(await names(admin, applicationId)).toEqual([]);
  const read = async () => (await admin.get(`${runsPath(applicationId)}/train-1-1`)).body.data;
  for (const [ms, status] of [
    [99, "CREATED"],
    [299, "SCHEDULED"],
    [999, "RUNNING"],
    [1000, "FINISHED"],
  ] as const) {
    atMs = ms;
    await expect.poll(async () => (await read())?.status, { interval: 20 }).toBe(status);
  }
  const { createdAt, ...run } = await read();
  expect(run).toMatchObject({ exitCode: 0, duration: 1, endTime: createdAt + 1000 });
});

test("a run fails with its exit code and the retries that its job allows", async () => {
  const failures: RunFailure[] = [{ exitCode: 137, error: "out of memory" }];
  const driver = createSimulatedRuns({ seconds: 0, failures: () => failures[0] ?? null });
  const { admin } = await planted({ runs: driver });
  const { applicationId } = await deploy(admin);
  expect(await runs(admin, applicationId)).toMatchObject([
    { status: "FAILED", exitCode: 137, error: "out of memory", totalRetries: 3, duration: 0 },
  ]);
  failures[0] = "stuck";
  await deploy(admin);
  const [stuck] = await runs(admin, applicationId);
  expect(stuck).toMatchObject({ name: "train-2-1", status: "RUNNING" });
  expect(stuck).not.toHaveProperty("exitCode");
});

test("a deployment that fails, or is pushed aside, starts no run", async () => {
  const failures: RolloutFailure[] = ["deploy"];
  const { admin } = await planted({
    rollouts: createSimulatedRollouts({ seconds: 0, failures: () => failures[0] ?? null }),
  });
  const { applicationId } = await deploy(admin);
  expect(await names(admin, applicationId)).toEqual([]);
  failures[0] = "stuck";
  await deploy(admin);
  failures.pop();
  await deploy(admin, { forceDeploy: true });
  expect(await names(admin, applicationId)).toEqual([]);
  await deploy(admin);
  expect(await names(admin, applicationId)).toEqual(["train-4-1"]);
});

test("a rollout and a run that a restart interrupts go on after it", async () => {
  const first = await planted({ rolloutSeconds: 1 });
  const { applicationId } = await deploy(first.admin);
  await first.close();
  const slow = runsAt(() => 999);
  const second = await startControlPlane({ data: first.data, rolloutSeconds: 0.05, runs: slow });
  const status = async (caller: Caller) => (await runs(caller, applicationId))[0]?.status;
  await expect.poll(() => status(second.admin), { timeout: 60_000, interval: 20 }).toBe("RUNNING");
  await second.close();
  const third = await startControlPlane({ data: first.data, rolloutSeconds: 0.05 });
  await expect.poll(() => status(third.admin), { timeout: 60_000, interval: 20 }).toBe("FINISHED");
});

test("who may not see the workspace finds neither job nor run", async () => {
  const plane = await planted();
  const collaborators = [{ subject: "user:ann@example.com", role_id: "workspace-viewer" }];
  await plane.admin.put("/api/svc/v1/workspaces", { manifest: { ...workspace, collaborators } });
  const { applicationId } = await deploy(plane.admin);
  const path = runsPath(applicationId);
  const viewer = await addUser(plane, "ann@example.com");
  expect((await viewer.get(`${path}/train-1-1`)).status).toBe(200);
  expect((await viewer.get(`${path}/train-1-2`)).status).toBe(404);
  const stranger = await addUser(plane, "eve@example.com");
  const absent = (await stranger.get(runsPath("absent"))).body;
  expect(absent).toMatchObject({ statusCode: 404, code: "not-found" });
  for (const suffix of ["", "/train-1-1", "/absent"])
    expect((await stranger.get(`${path}${suffix}`)).body).toEqual(absent);
});
