import { describe, expect, test } from "vitest";
import { controlPlaneVariants } from "../support/control-plane-variants.ts";
import { eventually } from "../support/eventually.ts";
import { reportOf } from "../support/json-output.ts";
import { everyKind, service } from "../support/manifests.ts";
import type { Server } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

const SERVICE = "service/dev:web/api";

describe.each(controlPlaneVariants)("on a $name control plane with rollouts that take their time", (plane) => {
  test("apply follows them to their end", async () => {
    const server = await plane.serve({ rolloutSeconds: 1 });
    const source = await sourceOf(everyKind, server);
    const ended = await source.runHere(["apply", "--yes", "--wait", "-o", "json"]);
    expect(ended.code).toBe(0);
    const outcome = reportOf(ended).outcomes.find(({ identity }) => identity === SERVICE);
    expect(outcome).toMatchObject({ result: "created", rollout: "succeeded", attempts: 1 });
  });

  test("apply --no-wait does not, and a second apply still writes nothing", async () => {
    const server = await plane.serve({ rolloutSeconds: 60 });
    const source = await sourceOf(everyKind, server);
    const ended = await source.runHere(["apply", "--yes", "--no-wait", "-o", "json"]);
    expect(ended.code).toBe(0);
    const outcome = reportOf(ended).outcomes.find(({ identity }) => identity === SERVICE);
    expect(outcome).toMatchObject({ result: "created", rollout: "progressing" });
    const before = server.effects().length;
    expect(await source.runHere(["apply", "--yes", "--no-wait"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("\nApplied: 8 unchanged\n"),
    });
    expect(server.effects()).toHaveLength(before);
  });

  test("apply --wait-timeout waits no longer than that, and says so", async () => {
    const server = await plane.serve({ rolloutSeconds: 60 });
    const source = await sourceOf(everyKind, server);
    const ended = await source.runHere(["apply", "--yes", "--wait-timeout", "0.5", "-o", "json"]);
    expect(ended.code).toBe(7);
    const outcome = reportOf(ended).outcomes.find(({ identity }) => identity === SERVICE);
    expect(outcome).toMatchObject({ result: "created", rollout: "timeout" });
  });

  test("a deployment in progress is waited for, never forced", async () => {
    const server = await plane.serve({ rolloutSeconds: 1 });
    const source = await sourceOf(everyKind, server);
    expect(await source.runHere(["apply", "--yes", "--no-wait"])).toMatchObject({ code: 0 });
    await source.write("services/api.yaml", service("api", "replicas: 3\n"));
    const ended = await source.runHere(["apply", "--yes", "-o", "json"]);
    const outcome = reportOf(ended).outcomes.find(({ identity }) => identity === SERVICE);
    expect(outcome).toMatchObject({ result: "updated", rollout: "succeeded", error: null });
    expect(ended.code).toBe(0);
    const { data } = await deployments(server);
    expect(data.map((deployment: Deployment) => [deployment.version, deployment.currentStatus.status])).toEqual([
      [2, "DEPLOY_SUCCESS"],
      [1, "DEPLOY_SUCCESS"],
    ]);
  });

  test("SIGINT while waiting ends with 130, tells what was done, and the next apply finds it done", async () => {
    await expectStopped(plane.serve, "SIGINT", 130);
  });

  test("SIGTERM while waiting ends with 143, tells what was done, and the next apply finds it done", async () => {
    await expectStopped(plane.serve, "SIGTERM", 143);
  });

  test("--timeout ends it with 9", async () => {
    const server = await plane.serve({ rolloutSeconds: 60 });
    const source = await sourceOf(everyKind, server);
    const ended = await source.runHere(["apply", "--yes", "--timeout", "3"]);
    expect(ended.code).toBe(9);
    expect(ended.stderr).toContain("error: the time limit of 3 s is over\n");
    // On a busy machine the time may be over before everything is written.
    expect(await source.runHere(["apply", "--yes", "--no-wait"])).toMatchObject({ code: 0 });
    expect(server.effects()).toHaveLength(8);
  });
});

type Deployment = { readonly version: number; readonly currentStatus: { readonly status: string } };

async function deployments({ call }: Server): ReturnType<Server["call"]> {
  const { data } = await call("PUT", "/api/svc/v1/apps", {
    manifest: { type: "service", name: "api", workspace_fqn: "dev:web", image: { type: "image", image_uri: "x" } },
    dryRun: true,
  });
  return call("GET", `/api/svc/v1/apps/${data.applicationId}/deployments`);
}

async function expectStopped(
  start: (typeof controlPlaneVariants)[number]["serve"],
  signal: NodeJS.Signals,
  code: number,
): Promise<void> {
  const server = await start({ rolloutSeconds: 60 });
  const source = await sourceOf(everyKind, server);
  const apply = source.start(["apply", "--yes"]);
  await eventually("everything is written", () => server.effects().length === 8);
  apply.kill(signal);
  const ended = await apply.ended;
  expect(ended.code).toBe(code);
  expect(ended.stdout).toMatch(/created {3}service\/dev:web\/api {2}rollout progressing/);
  const before = server.effects().length;
  expect(await source.runHere(["apply", "--yes", "--no-wait"])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("\nApplied: 8 unchanged\n"),
  });
  expect(server.effects()).toHaveLength(before);
}
