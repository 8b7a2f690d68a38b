import { describe, expect, test } from "vitest";
import { createSimulatedRollouts, type RolloutFailure } from "../../src/server/rollouts/simulated-rollouts.ts";
import { effects, startControlPlane } from "../control-plane.ts";
import { startHoldingProxy } from "../support/holding-proxy.ts";
import { reportOf } from "../support/json-output.ts";
import { foundations, service } from "../support/manifests.ts";
import { faultsOf } from "../support/output-schemas.ts";
import { type Source, sourceOf } from "../support/source.ts";

const API = "service/dev:web/api";
const files = { ...foundations, "api.yaml": service("api"), "db.yaml": service("db") };

/** A control plane in this process whose rollouts of `api` fail as long as there is a failure. */
async function failingPlane(documentedOnly: boolean) {
  const failing: { how: RolloutFailure | null } = { how: "deploy" };
  const failures = ({ manifest }: { readonly manifest: { readonly name?: unknown } }) =>
    manifest.name === "api" ? failing.how : null;
  const { folder } = await sourceOf(foundations);
  const plane = await startControlPlane({
    documentedOnly,
    ...(documentedOnly ? { seed: folder } : {}),
    rollouts: createSimulatedRollouts({ seconds: 0, failures }),
  });
  const deployments = async () => (await effects(plane.data)).filter((effect) => effect.endsWith(API)).length;
  return { server: { url: plane.url, token: plane.adminToken.open() }, failing, deployments };
}

async function applied(source: Source): Promise<void> {
  const ended = await source.runHere(["apply", "--yes", "-o", "json"]);
  expect(ended.code).toBe(7);
  const api = reportOf(ended).outcomes.find(({ identity }) => identity === API);
  expect(api).toMatchObject({ result: "created", rollout: "failed" });
}

describe.each([
  { name: "full", documentedOnly: false },
  { name: "documented-only", documentedOnly: true },
])("redeploy on a $name control plane", ({ documentedOnly }) => {
  test("S68 makes one version of equal content after a rollout that failed, and of a healthy one only with --force", async () => {
    const { server, failing, deployments } = await failingPlane(documentedOnly);
    const source = await sourceOf(files, server);
    await applied(source);
    expect(await deployments()).toBe(1);
    // Equal content is not sent again because it failed.
    expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
    failing.how = null;
    const ended = await source.runHere(["redeploy", API, "-o", "json"]);
    expect([ended.code, faultsOf("apply", ended.stdout)]).toEqual([0, []]);
    expect(reportOf(ended)).toMatchObject({
      summary: { updated: 1, unchanged: 0 },
      outcomes: [{ identity: API, result: "updated", rollout: "succeeded", error: null }],
    });
    expect(await deployments()).toBe(2);

    const healthy = await source.runHere(["redeploy", API]);
    expect(healthy).toMatchObject({ code: 5, stdout: "" });
    expect(healthy.stderr).toContain(`error: ${API} is healthy: --force deploys it anyway\n  → nothing was sent\n`);
    expect(await deployments()).toBe(2);
    const forced = await source.runHere(["redeploy", API, "--force"]);
    expect(forced.code).toBe(0);
    expect(forced.stdout).toContain(`updated   ${API}  rollout succeeded`);
    expect(await deployments()).toBe(3);
    // The record follows, so nothing has drifted.
    expect(await source.runHere(["drift"])).toMatchObject({ code: 0 });
    expect(await source.runHere(["apply", "--yes"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("\nApplied: 5 unchanged\n"),
    });
  });

  test("S68 a run that is killed after its write is found, and the next one makes no other version", async () => {
    const { server, failing, deployments } = await failingPlane(documentedOnly);
    const source = await sourceOf(files, server);
    await applied(source);
    failing.how = null;
    const gate = await startHoldingProxy(server);
    const held = gate.hold("PUT", "/api/svc/v1/apps");
    const redeploy = ["redeploy", API, "--request-timeout", "1"];
    const running = source.start(redeploy, { HOLDFAST_SERVER: gate.url });
    await held;
    running.kill("SIGKILL");
    await running.ended;
    gate.open();
    const again = await source.runHere([...redeploy, "--force", "-o", "json"], { HOLDFAST_SERVER: gate.url });
    expect(again.code).toBe(0);
    expect(reportOf(again).outcomes).toMatchObject([{ identity: API, result: "updated", interrupted: "made" }]);
    expect(await deployments()).toBe(2);
  });
});

test("S68 says of each resource why it is not deployed again, and sends nothing", async () => {
  const { server, deployments } = await failingPlane(false);
  const source = await sourceOf({ ...files, "new.yaml": service("new") }, server);
  await source.remove("new.yaml");
  await applied(source);
  await source.write("new.yaml", service("new"));
  await source.write("api.yaml", service("api", "replicas: 3\n"));
  const all = await source.runHere(["redeploy", API, "service/dev:web/new", "service/dev:web/db", "-o", "json"]);
  expect(all.code).toBe(5);
  expect(JSON.parse(all.stdout)).toMatchObject({
    error: { code: "refused", message: "3 of these resources cannot be deployed again", hint: "nothing was sent" },
    diagnostics: [
      { summary: `${API} differs from its manifest: holdfast apply deploys that`, file: "api.yaml", line: 1 },
      { summary: "service/dev:web/db is healthy: --force deploys it anyway" },
      { summary: "service/dev:web/new is not live yet: holdfast apply deploys it" },
    ],
  });
  const cluster = await source.runHere(["redeploy", "cluster/dev"]);
  expect(cluster).toMatchObject({ code: 3 });
  expect(cluster.stderr).toContain("cluster/dev is not deployed: its kind has no rollouts");
  expect(await source.runHere(["redeploy", "service/dev:web/nowhere"])).toMatchObject({ code: 3 });
  expect(await source.runHere(["redeploy"])).toMatchObject({ code: 3 });
  expect(await deployments()).toBe(1);
});
