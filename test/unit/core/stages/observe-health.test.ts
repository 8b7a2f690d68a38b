import { expect, test } from "vitest";
import {
  NO_TIMES,
  observeHealth,
  type SeenCommit,
  sharedObservation,
} from "../../../../src/core/stages/observe-health.ts";
import { NO_PROGRESS, progressAfter } from "../../../../src/core/stages/target-progress.ts";

const MINUTE = 60_000;
const healthy: SeenCommit = {
  ...{ commit: "c1", isApplied: true, failure: null, health: "healthy", why: null, content: "same" },
  hasBadRollout: false,
};
const rolling: SeenCommit = { ...healthy, health: "progressing", why: "rolling out: service/c1:ws1/api" };
const failed: SeenCommit = { ...healthy, health: "failed", why: "the rollout failed: service/c1:ws1/api" };
const unseen: SeenCommit = { ...healthy, isApplied: false, health: "unknown", content: null };
const limits = { maxGapMs: 2 * MINUTE, waitMs: 10 * MINUTE };

/** What is recorded after observations at these times; "new process" stands for a daemon that ended, and its successor. */
function after(observations: readonly (readonly [number, SeenCommit | null] | "new process")[]) {
  let [times, progress] = [NO_TIMES, NO_PROGRESS];
  for (const one of observations) {
    if (one === "new process") {
      times = NO_TIMES;
      continue;
    }
    const observed = observeHealth(times, one[1], { now: one[0] * MINUTE, ...limits });
    times = observed.times;
    if (observed.observation !== null) progress = progressAfter(progress, observed.observation);
  }
  return progress.commits.at(-1);
}

test.each([
  [
    "each minute",
    [
      [0, healthy],
      [1, healthy],
      [2, healthy],
    ],
    2,
  ],
  ["once", [[5, healthy]], 0],
  [
    "after a gap that is too long",
    [
      [0, healthy],
      [1, healthy],
      [9, healthy],
      [10, healthy],
    ],
    2,
  ],
  [
    "on a machine that slept",
    [
      [0, healthy],
      [1, healthy],
      [900, healthy],
    ],
    1,
  ],
  [
    "with a failed rollout between",
    [
      [0, healthy],
      [1, healthy],
      [2, failed],
      [3, healthy],
      [4, healthy],
    ],
    1,
  ],
  [
    "with a rollout between",
    [
      [0, healthy],
      [1, healthy],
      [2, rolling],
      [3, healthy],
    ],
    0,
  ],
  [
    "with another commit between",
    [
      [0, healthy],
      [1, { ...healthy, commit: "c2", content: "other" }],
      [2, healthy],
    ],
    0,
  ],
  [
    "with a commit that changes nothing",
    [
      [0, healthy],
      [1, { ...healthy, commit: "c2" }],
    ],
    1,
  ],
  [
    "with a look that saw nothing",
    [
      [0, healthy],
      [1, healthy],
      [2, unseen],
      [3, healthy],
      [4, healthy],
    ],
    2,
  ],
  [
    "while no commit was known",
    [
      [0, healthy],
      [1, null],
      [2, healthy],
    ],
    0,
  ],
  [
    "with a failed pass",
    [
      [0, healthy],
      [1, healthy],
      [2, { ...healthy, failure: "1 failed" }],
      [3, healthy],
    ],
    0,
  ],
] as const)("the time of a commit found healthy %s", (_, observations, minutes) => {
  expect(after(observations)?.healthyMs).toBe(minutes * MINUTE);
});

test.each([
  ["a later beginning", 1000],
  ["an earlier beginning", -1000],
])(
  "the time while no daemon ran does not count, and the time before it stays, also where the clock has %s",
  (_, by) => {
    const before = [[0, healthy], [1, healthy], "new process", [by, healthy]] as const;
    expect(after(before)?.healthyMs).toBe(MINUTE);
    expect(after([...before, [by + 1, healthy]])?.healthyMs).toBe(2 * MINUTE);
  },
);

test("a clock that goes back neither shortens the time nor makes it endless", () => {
  const back = [
    [10, healthy],
    [11, healthy],
    [3, healthy],
  ] as const;
  expect(after(back)?.healthyMs).toBe(MINUTE);
  expect(after([...back, [4, healthy], [5, healthy]])?.healthyMs).toBe(3 * MINUTE);
});

test("a rollout has failed once it takes longer than the wait for rollouts, and not before", () => {
  expect(
    after([
      [0, rolling],
      [10, rolling],
    ])?.health,
  ).toBe("progressing");
  expect(
    after([
      [0, rolling],
      [11, rolling],
    ]),
  ).toMatchObject({
    health: "failed",
    why: "rolling out: service/c1:ws1/api, for longer than 10m",
  });
  expect(
    after([
      [0, rolling],
      [11, rolling],
      [12, healthy],
    ])?.health,
  ).toBe("healthy");
  for (const [health, seen] of [
    // What is not applied yet may be on its way, and what has ended well is no failure.
    ["progressing", { ...rolling, isApplied: false, hasBadRollout: true }],
    ["healthy", { ...healthy, hasBadRollout: true }],
  ] as const)
    expect(after([[0, seen]])?.health).toBe(health);
  // Another process begins to wait again.
  expect(after([[0, rolling], "new process", [11, rolling]])?.health).toBe("progressing");
  expect(after([[0, { ...rolling, hasBadRollout: true }]])?.health).toBe("failed");
});

test("an observation has what was seen, and since when", () => {
  const at = (minutes: number) => ({ now: minutes * MINUTE, ...limits });
  const { hasBadRollout: _, ...seen } = healthy;
  const first = observeHealth(NO_TIMES, healthy, at(1));
  expect(first).toEqual({
    times: { healthyAt: MINUTE, progressingSince: null },
    observation: { ...seen, observedMs: 0 },
  });
  expect(observeHealth(first.times, healthy, at(3)).observation).toEqual({ ...seen, observedMs: 2 * MINUTE });
  const second = observeHealth(first.times, rolling, at(2));
  expect(second).toEqual({
    times: { healthyAt: null, progressingSince: 2 * MINUTE },
    observation: { ...seen, health: "progressing", why: rolling.why, observedMs: 0 },
  });
  expect(observeHealth(second.times, rolling, at(3)).times).toEqual(second.times);
  expect(observeHealth(second.times, null, at(3))).toEqual({ times: NO_TIMES, observation: null });
});

test("the time between the observations of two processes counts once, by the clock that they share", () => {
  const { observation: seen } = observeHealth(NO_TIMES, healthy, { now: 0, ...limits });
  if (seen === null) throw new TypeError("nothing was observed");
  const { maxGapMs } = limits;
  const other = { isOwn: false, maxGapMs };
  const first = sharedObservation(seen, undefined, { now: MINUTE, ...other });
  expect(first).toMatchObject({ observedMs: 0, healthyAt: MINUTE });
  const last = progressAfter(NO_PROGRESS, first).commits.at(-1);
  const msAt = (now: number | null) => sharedObservation(seen, last, { now, ...other }).observedMs;
  expect([2, 3, 4, 0].map((minutes) => msAt(minutes * MINUTE))).toEqual([MINUTE, 2 * MINUTE, 0, 0]);
  // A folder has no such clock.
  expect(msAt(null)).toBe(0);
  const own = { ...seen, observedMs: MINUTE };
  // A shared clock that jumps says nothing where a process has its own time.
  expect(sharedObservation(own, last, { now: 3 * MINUTE, isOwn: true, maxGapMs }).observedMs).toBe(MINUTE);
  const sick = sharedObservation({ ...seen, health: "failed" }, last, { now: 2 * MINUTE, ...other });
  expect(sick).not.toHaveProperty("healthyAt");
});
