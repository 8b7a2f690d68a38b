import { existsSync, readFileSync } from "node:fs";
import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ControlPlaneOptions } from "../../src/server/control-plane.ts";
import { type Caller, startControlPlane, temporaryFolder } from "../control-plane.ts";
import { statement } from "../support/test-database.ts";
import { plantWorkspace, service } from "./platform.ts";

const apps = "/api/svc/v1/apps";

/** A program of these lines of a shell, in a folder of its own, which is also its `$HERE`. */
async function programOf(script: string): Promise<{ readonly path: string; readonly here: string }> {
  const here = join(await temporaryFolder(), "driver");
  await mkdir(here);
  const path = join(here, "driver.sh");
  await writeFile(path, `#!/bin/sh\nHERE=${here}\n${script}\n`);
  await chmod(path, 0o700);
  return { path, here };
}

type Limits = { readonly seconds?: number; readonly atOnce?: number };

/** A control plane whose rollouts the program carries out. */
async function started(
  path: string,
  { seconds = 120, atOnce = 4 }: Limits = {},
  options: Partial<ControlPlaneOptions> = {},
) {
  const rolloutProgram = { path, env: { PATH: process.env.PATH }, seconds, atOnce };
  const { seed: _, ...others } = options;
  return startControlPlane({ ...others, rolloutProgram });
}

async function deploy(admin: Caller, name = "api", more: object = {}) {
  return (await admin.put(apps, { manifest: { ...service, name }, ...more })).body.data;
}

/** The statuses of a deployment with their messages, once it has ended. */
async function ended(admin: Caller, { applicationId, id }: { applicationId: string; id: string }) {
  const read = async () => (await admin.get(`${apps}/${applicationId}/deployments?deploymentId=${id}`)).body.data[0];
  await expect
    .poll(async () => (await read()).currentStatus.state.isTerminalState, { timeout: 60_000, interval: 50 })
    .toBe(true);
  const { deploymentStatuses } = await read();
  return deploymentStatuses.map(({ status, message }: { status: string; message?: string }) => [
    status,
    message ?? null,
  ]);
}

const SUCCESS = `echo '{"status":"DEPLOY_SUCCESS"}'`;

/** The statuses of one deployment by a program. */
async function rolledOutBy(script: string, limits: Limits = {}) {
  const { path } = await programOf(script);
  const { admin } = await started(path, limits);
  await plantWorkspace(admin);
  return ended(admin, await deploy(admin));
}

test("a program gets the deployment as JSON, and each line of its output is a status", async () => {
  const { path, here } = await programOf(
    `cat > $HERE/input
     env > $HERE/env
     echo '{"status":"ROLLOUT_STARTED","message":"1 of 2 replicas"}'
     echo '{"status":"SET_TRAFFIC"}'
     echo 'what goes to stderr is no status' >&2
     ${SUCCESS}`,
  );
  const { admin } = await started(path);
  await plantWorkspace(admin);
  const deployment = await deploy(admin);
  expect(deployment.currentStatus.status).toBe("INITIALIZED");
  expect(await ended(admin, deployment)).toEqual([
    ["INITIALIZED", null],
    ["ROLLOUT_STARTED", "1 of 2 replicas"],
    ["SET_TRAFFIC", null],
    ["DEPLOY_SUCCESS", null],
  ]);
  expect(JSON.parse(readFileSync(join(here, "input"), "utf8"))).toEqual({
    deploymentId: deployment.id,
    fqn: "c1x:ws1:api:1",
    cluster: "c1x",
    workspace: "ws1",
    application: "api",
    version: 1,
    status: "INITIALIZED",
    createdAt: deployment.createdAt,
    manifest: deployment.manifest,
  });
  const [app] = (await admin.get(`${apps}?fqn=c1x:ws1:api`)).body.data;
  expect(app).toMatchObject({ activeVersion: 1, activeDeploymentId: deployment.id });
});

test("a deployment fails with the reason when its program fails in any way", async () => {
  const last = async (script: string, limits?: Limits) => (await rolledOutBy(script, limits)).at(-1);
  const failed = (reason: string) => ["DEPLOY_FAILED", expect.stringContaining(`the rollout driver ${reason}`)];
  expect(await last("echo first >&2; echo 'no such namespace' >&2; exit 3")).toEqual(
    failed("ended with exit code 3: no such namespace"),
  );
  expect(await last("kill -SEGV $$")).toEqual(failed("was ended by SIGSEGV"));
  expect(await last("exit 0")).toEqual(failed("ended with exit code 0 without a final status"));
  expect(await last("echo deployment.apps/api created; sleep 100")).toEqual(failed("wrote a line that is no status"));
  expect(await last(`echo '{"status":"PERFECT"}'; sleep 100`)).toEqual(failed("wrote a line that is no status"));
  expect(await last(`echo '{"status":"DEPLOY_SUCCESS","message":7}'`)).toEqual(
    failed("wrote a line that is no status"),
  );
  expect(await last("head -c 200000 /dev/zero; sleep 100")).toEqual(failed("wrote a line that is no status"));
  expect(await last(`while :; do echo '{"status":"BUILDING"}'; done`)).toEqual(failed("wrote more than 100 statuses"));
  expect(await last("while :; do echo; done")).toEqual(failed("wrote more than 1048576 characters"));
});

test("a program that hangs is ended with what it has started, and its deployment fails", async () => {
  const { path, here } = await programOf("trap '' TERM; sleep 1000 & echo $! > $HERE/child; wait; sleep 1000");
  const { admin } = await started(path, { seconds: 0.5 });
  await plantWorkspace(admin);
  expect((await ended(admin, await deploy(admin))).at(-1)).toEqual([
    "DEPLOY_FAILED",
    "the rollout driver did not end within 0.5 s",
  ]);
  const child = readFileSync(join(here, "child"), "utf8").trim();
  await expect.poll(() => existsSync(`/proc/${child}/cwd`), { timeout: 30_000 }).toBe(false);
});

test("a program that is missing fails the deployments, and serves the next ones as soon as it is there", async () => {
  const { path } = await programOf(SUCCESS);
  const script = readFileSync(path);
  await rm(path);
  const { admin } = await started(path);
  await plantWorkspace(admin);
  expect((await ended(admin, await deploy(admin))).at(-1)).toEqual([
    "DEPLOY_FAILED",
    expect.stringContaining("the rollout driver cannot be started: "),
  ]);
  await writeFile(path, script, { mode: 0o700 });
  expect((await ended(admin, await deploy(admin))).at(-1)).toEqual(["DEPLOY_SUCCESS", null]);
});

test("programs run at once up to the limit, and the others wait for their end", async () => {
  const { path, here } = await programOf(
    `mkdir $HERE/run.$$; ls -d $HERE/run.* | wc -l >> $HERE/counts
     while [ ! -e $HERE/go ]; do sleep 0.05; done
     rmdir $HERE/run.$$; ${SUCCESS}`,
  );
  const { admin, data } = await started(path, { atOnce: 2 });
  await plantWorkspace(admin);
  const all = [];
  for (const name of ["a", "b", "c", "d", "e"]) all.push(await deploy(admin, name));
  const counts = () => {
    if (!existsSync(join(here, "counts"))) return [];
    return readFileSync(join(here, "counts"), "utf8").trim().split(/\s+/).map(Number);
  };
  // Each of the others was looked at again and again, and was not begun.
  const lookedAt = async () => {
    const rows = await statement(data, "SELECT id, look_at FROM deployments WHERE is_over = 0");
    return new Map(rows.map(({ id, look_at }) => [String(id), Number(look_at)]));
  };
  const first = await lookedAt();
  const again = async () =>
    [...(await lookedAt())].filter(([id, at]) => at !== first.get(id) && at < Date.now() + 5000).length;
  await expect.poll(async () => counts().length === 5 || (await again()) === 3, { timeout: 60_000 }).toBe(true);
  await writeFile(join(here, "go"), "");
  for (const one of all) expect((await ended(admin, one)).at(-1)).toEqual(["DEPLOY_SUCCESS", null]);
  expect(counts()).toHaveLength(5);
  expect(Math.max(...counts())).toBe(2);
});

test("a forced deployment ends the program of the one that it cancels before its own begins", async () => {
  const { path, here } = await programOf(
    `trap 'sleep 1; echo ended >> $HERE/log; exit 1' TERM
     echo begun >> $HERE/log
     [ -e $HERE/second ] && { ${SUCCESS}; exit; }
     while :; do sleep 0.05; done`,
  );
  const { admin } = await started(path);
  await plantWorkspace(admin);
  const first = await deploy(admin);
  await expect.poll(() => existsSync(join(here, "log")), { timeout: 30_000 }).toBe(true);
  await writeFile(join(here, "second"), "");
  const second = await deploy(admin, "api", { forceDeploy: true });
  expect((await ended(admin, second)).at(-1)).toEqual(["DEPLOY_SUCCESS", null]);
  expect((await ended(admin, first)).at(-1)).toEqual(["CANCELLED", "replaced by a forced deployment"]);
  expect(readFileSync(join(here, "log"), "utf8").trim().split("\n")).toEqual(["begun", "ended", "begun"]);
});

test("a server that ends ends the programs, and the next one starts them again with the status that was told last", async () => {
  const { path, here } = await programOf(
    `read input; echo "$input" >> $HERE/inputs
     [ -e $HERE/again ] && { ${SUCCESS}; exit; }
     echo '{"status":"ROLLOUT_STARTED"}'
     trap 'echo ended > $HERE/ended; exit 1' TERM
     while :; do sleep 0.05; done`,
  );
  const data = await temporaryFolder();
  const first = await started(path, {}, { data });
  await plantWorkspace(first.admin);
  const deployment = await deploy(first.admin);
  const status = async () =>
    (await first.admin.get(`${apps}?fqn=c1x:ws1:api`)).body.data[0].deployment.currentStatus.status;
  await expect.poll(status, { timeout: 30_000 }).toBe("ROLLOUT_STARTED");
  await first.close();
  expect(existsSync(join(here, "ended"))).toBe(true);
  await writeFile(join(here, "again"), "");
  const { admin } = await started(path, {}, { data });
  expect(await ended(admin, deployment)).toEqual([
    ["INITIALIZED", null],
    ["ROLLOUT_STARTED", null],
    ["DEPLOY_SUCCESS", null],
  ]);
  const inputs = readFileSync(join(here, "inputs"), "utf8").trim().split("\n");
  expect(inputs.map((line) => JSON.parse(line).status)).toEqual(["INITIALIZED", "ROLLOUT_STARTED"]);
});
