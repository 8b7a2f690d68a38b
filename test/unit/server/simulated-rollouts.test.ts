import { expect, test } from "vitest";
import { createSimulatedRollouts, type RolloutFailure } from "../../../src/server/rollouts/simulated-rollouts.ts";

const built = { image: { type: "build" } };
const rollout = { deploymentId: "d", fqn: "c:w:a:1", manifest: built, status: "INITIALIZED", startedAt: 1000 };

async function statuses(
  now: number,
  status = "INITIALIZED",
  failure: RolloutFailure | null = null,
  manifest: typeof built | Record<string, never> = built,
) {
  const driver = createSimulatedRollouts({ seconds: 10, failures: () => failure });
  const { progress, dueAt } = await driver.observe({ ...rollout, status, manifest }, now);
  return [...progress.map((step) => step.status), dueAt];
}

test("a rollout begins initialized", () => {
  const driver = createSimulatedRollouts({ seconds: 10 });
  expect(driver.begin(built)).toMatchObject({ status: "INITIALIZED", transition: "BUILDING", isTerminalState: false });
  expect(driver.begin({})).toMatchObject({ status: "INITIALIZED", transition: "DEPLOYING" });
});

test("a rollout advances with time, and returns when it is due again", async () => {
  expect(await statuses(1000)).toEqual([2000]);
  expect(await statuses(2000)).toEqual(["BUILDING", 6000]);
  expect(await statuses(6500, "BUILDING")).toEqual(["BUILD_SUCCESS", 7000]);
  expect(await statuses(11_000, "ROLLOUT_STARTED")).toEqual(["DEPLOY_SUCCESS", null]);
});

test("after a long sleep it catches up at once, missing nothing", async () => {
  expect(await statuses(99_000)).toEqual(["BUILDING", "BUILD_SUCCESS", "ROLLOUT_STARTED", "DEPLOY_SUCCESS", null]);
});

test("what exists already is not built", async () => {
  expect(await statuses(99_000, "INITIALIZED", null, {})).toEqual(["ROLLOUT_STARTED", "DEPLOY_SUCCESS", null]);
});

test("failures end it where they happen, or nowhere", async () => {
  expect(await statuses(99_000, "INITIALIZED", "build")).toEqual(["BUILDING", "BUILD_FAILED", null]);
  expect((await statuses(99_000, "INITIALIZED", "deploy")).slice(-2)).toEqual(["DEPLOY_FAILED", null]);
  expect((await statuses(99_000, "INITIALIZED", "stuck")).slice(-2)).toEqual(["ROLLOUT_STARTED", null]);
});

test("without time it is over at once", async () => {
  const driver = createSimulatedRollouts({ seconds: 0 });
  const { progress, dueAt } = await driver.observe(rollout, 1000);
  expect(progress.at(-1)).toMatchObject({ status: "DEPLOY_SUCCESS", transition: "", isTerminalState: true });
  expect(dueAt).toBeNull();
});
