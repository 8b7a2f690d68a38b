import { expect, test } from "vitest";
import { createSimulatedRollouts, type RolloutFailure } from "../../../src/server/rollouts/simulated-rollouts.ts";

const built = { image: { type: "build" } };
const rollout = {
  deploymentId: "d",
  fqn: "c:w:a:1",
  manifest: built,
  status: "INITIALIZED",
  statuses: 1,
  startedAt: 1000,
};

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
  const begun = (manifest: object) => driver.begin({ ...rollout, manifest: { ...manifest }, status: "" }, 1000);
  expect(begun(built)).toEqual({
    progress: [
      {
        status: "INITIALIZED",
        transition: "BUILDING",
        message: "simulated: no cluster runs it",
        display: "Initialized",
        isTerminalState: false,
      },
    ],
    dueAt: 2000,
  });
  expect(begun({}).progress).toMatchObject([{ status: "INITIALIZED", transition: "DEPLOYING" }]);
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
  const day = 86_400_000;
  expect((await statuses(99_000, "INITIALIZED", "stuck")).slice(-2)).toEqual(["ROLLOUT_STARTED", 99_000 + day]);
});

test("without time it is over at once", async () => {
  const driver = createSimulatedRollouts({ seconds: 0 });
  const { progress, dueAt } = await driver.observe(rollout, 1000);
  expect(progress.at(-1)).toMatchObject({ status: "DEPLOY_SUCCESS", transition: "", isTerminalState: true });
  expect(dueAt).toBeNull();
});

test("rules say which rollouts fail and after how long, and those that are set come first", async () => {
  const rules = [
    { match: "service/c:w/slow", failure: "stuck", afterSeconds: 60 },
    { match: "service/c:w/*", failure: "deploy", afterSeconds: 30 },
  ] as const;
  const driver = createSimulatedRollouts({ seconds: 10, rules });
  const at = async (name: string, now: number) => {
    const manifest = { type: "service" };
    const seen = await driver.observe({ ...rollout, fqn: `c:w:${name}:1`, manifest }, 1000 + now * 1000);
    return [...seen.progress.map(({ status }) => status), seen.dueAt === null ? null : seen.dueAt / 1000 - 1];
  };
  expect(await at("a", 29)).toEqual(["ROLLOUT_STARTED", 30]);
  expect(await at("a", 30)).toEqual(["ROLLOUT_STARTED", "DEPLOY_FAILED", null]);
  expect(await at("slow", 30)).toEqual(["ROLLOUT_STARTED", 60]);
  expect(await at("slow", 60)).toEqual(["ROLLOUT_STARTED", "DEPLOY_SUCCESS", null]);
  driver.setFailures?.([{ match: "**", failure: "stuck" }]);
  expect((await at("a", 30))[0]).toBe("ROLLOUT_STARTED");
  driver.setFailures?.([]);
  expect(await at("a", 30)).toEqual(["ROLLOUT_STARTED", "DEPLOY_FAILED", null]);
});

test("a build that is to fail sooner than it would begin fails all the same, and one that is over does not", async () => {
  const rules = [{ match: "**", failure: "build", afterSeconds: 0 }] as const;
  const driver = createSimulatedRollouts({ seconds: 10, rules });
  const from = async (status: string) =>
    (await driver.observe({ ...rollout, status }, 99_000)).progress.map((step) => step.status);
  expect(await from("INITIALIZED")).toEqual(["BUILDING", "BUILD_FAILED"]);
  expect(await from("BUILD_SUCCESS")).toEqual(["ROLLOUT_STARTED", "DEPLOY_SUCCESS"]);
});
