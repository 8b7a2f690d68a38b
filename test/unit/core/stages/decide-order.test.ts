import { expect, test } from "vitest";
import {
  decideOrder,
  decidePlace,
  goesFirst,
  isDone,
  missingText,
  type OrderRule,
} from "../../../../src/core/stages/decide-order.ts";
import { durationText } from "../../../../src/core/stages/duration.ts";
import {
  type CommitProgress,
  hasFailed,
  NO_PROGRESS,
  progressAfter,
  unseen,
  withBegun,
} from "../../../../src/core/stages/target-progress.ts";

const MINUTE = 60_000;
const HEALTHY: CommitProgress = {
  commit: "c2",
  isApplied: true,
  failure: null,
  health: "healthy",
  why: null,
  content: "two",
  healthyMs: 0,
};
const RULE: OrderRule = { when: "healthy", soakMs: 0 };

function decide(commits: readonly Partial<CommitProgress>[], rule: Partial<OrderRule> = {}) {
  return decideOrder({
    rule: { ...RULE, ...rule },
    earlier: [
      { target: "staging", progress: { commits: commits.map((one) => ({ ...HEALTHY, ...one })), begun: null } },
    ],
    retired: [],
    unmatched: [],
    candidates: ["c3", "c2", "c1"],
  });
}

const waiting = (what: string) => ({ is: "waiting", missing: [{ target: "staging", what }] });

test.each<[string, readonly Partial<CommitProgress>[], Partial<OrderRule>, unknown]>([
  ["nothing was applied", [], {}, waiting("has not applied commit c3")],
  ["the newest commit is healthy", [{ commit: "c3" }], {}, { is: "met", commit: "c3" }],
  ["an older commit is healthy", [{}], {}, { is: "met", commit: "c2" }],
  [
    "an older commit was healthy and the newest one rolls out",
    [{}, { commit: "c3", health: "progressing" }],
    {},
    { is: "met", commit: "c2" },
  ],
  [
    "the newest commit rolls out",
    [{ commit: "c3", health: "progressing", why: "service/a" }],
    {},
    waiting("commit c3 is not healthy there: service/a"),
  ],
  [
    "health is not asked for",
    [{ commit: "c3", health: "progressing" }],
    { when: "synced" },
    { is: "met", commit: "c3" },
  ],
  [
    "health could not be read",
    [{ commit: "c3", health: "unknown", why: "unreachable" }],
    {},
    waiting("commit c3 is not healthy there: unreachable"),
  ],
  [
    "not all was applied",
    [{ commit: "c3", isApplied: false, why: "1 blocked" }],
    {},
    waiting("has not applied all of commit c3: 1 blocked"),
  ],
  [
    "the soak is not over",
    [{ commit: "c3", healthyMs: 4 * MINUTE }],
    { soakMs: 30 * MINUTE },
    waiting("commit c3 has been healthy there for 4m of 30m"),
  ],
  [
    "the last part of a soak is not over",
    [{ commit: "c3", healthyMs: 1.25 * MINUTE }],
    { soakMs: 1.5 * MINUTE },
    waiting("commit c3 has been healthy there for 1m 15s of 1m 30s"),
  ],
  [
    "the soak is over",
    [{ commit: "c3", healthyMs: 30 * MINUTE }],
    { soakMs: 30 * MINUTE },
    { is: "met", commit: "c3" },
  ],
  [
    "a pass failed, although an older commit was healthy",
    [{}, { commit: "c3", isApplied: false, failure: "1 failed" }],
    {},
    { is: "halted", missing: [{ target: "staging", what: "commit c3 failed there: 1 failed" }] },
  ],
  [
    "a rollout failed",
    [{ commit: "c3", health: "failed", why: "service/a" }],
    {},
    { is: "halted", missing: [{ target: "staging", what: "commit c3 failed there: service/a" }] },
  ],
  [
    "an older commit has failed, and a newer one as well",
    [
      { commit: "c2", failure: "1 failed" },
      { commit: "c3", isApplied: false, failure: "2 failed", why: "x" },
    ],
    {},
    { is: "halted", missing: [{ target: "staging", what: "commit c3 failed there: 2 failed" }] },
  ],
  [
    "a rollout failed, of which nothing is known",
    [{ commit: "c3", health: "failed" }],
    {},
    { is: "halted", missing: [{ target: "staging", what: "commit c3 failed there: a rollout" }] },
  ],
  [
    "a rollout failed, and health is not asked for",
    [{ commit: "c3", health: "failed", why: "service/a" }],
    { when: "synced" },
    { is: "met", commit: "c3" },
  ],
  [
    "a rollout failed, and only a soak asks for health",
    [{ commit: "c3", health: "failed", why: "service/a" }],
    { when: "synced", soakMs: MINUTE },
    { is: "halted", missing: [{ target: "staging", what: "commit c3 failed there: service/a" }] },
  ],
  [
    "only a soak asks for health",
    [{ commit: "c3", health: "progressing" }],
    { when: "synced", soakMs: MINUTE },
    waiting("commit c3 is not healthy there"),
  ],
  [
    "a commit with a long name",
    [{ commit: "0123456789abcdef", failure: "1 failed" }],
    {},
    { is: "halted", missing: [{ target: "staging", what: "commit 0123456789ab failed there: 1 failed" }] },
  ],
  [
    "a later commit has healed",
    [{ commit: "c2", failure: "1 failed" }, { commit: "c3" }],
    {},
    { is: "met", commit: "c3" },
  ],
])("a commit and the target before it: %s", (_, commits, rule, expected) => {
  expect(decide(commits, rule)).toEqual(expected);
});

test("every target before it must have passed the commit, and each pattern match one", () => {
  const progress = { commits: [HEALTHY], begun: null };
  const input = { rule: RULE, retired: [], unmatched: [], candidates: ["c2"] };
  const both = [
    { target: "a", progress },
    { target: "b", progress: null },
  ];
  expect(decideOrder({ ...input, earlier: both })).toEqual({
    is: "waiting",
    missing: [{ target: "b", what: "its state cannot be found" }],
  });
  expect(decideOrder({ ...input, candidates: [], earlier: [] })).toEqual({ is: "waiting", missing: [] });
  const other = { commits: [{ ...HEALTHY, commit: "c1" }], begun: null };
  expect(
    decideOrder({ ...input, candidates: ["0123456789abcdef"], earlier: [{ target: "a", progress: other }] }),
  ).toEqual({
    is: "waiting",
    missing: [{ target: "a", what: "has not applied commit 0123456789ab" }],
  });
  expect(decideOrder({ ...input, earlier: both.slice(0, 1), unmatched: ["eu-*"] })).toEqual({
    is: "waiting",
    missing: [{ target: "eu-*", what: "no target matches" }],
  });
});

test("a target that was retired after it had failed halts what comes after it, and one that was healthy does not", () => {
  const input = { rule: RULE, unmatched: [], candidates: ["c3"] };
  const earlier = [{ target: "b", progress: { commits: [{ ...HEALTHY, commit: "c3" }], begun: null } }];
  const retiredWith = (health: CommitProgress["health"]) => [
    { target: "a", progress: { commits: [{ ...HEALTHY, health, why: "service/a" }], begun: null } },
  ];
  expect(decideOrder({ ...input, earlier, retired: retiredWith("failed") })).toEqual({
    is: "halted",
    missing: [{ target: "a", what: "commit c2 failed there: service/a, and it is retired" }],
  });
  for (const health of ["healthy", "progressing"] as const)
    expect(decideOrder({ ...input, earlier, retired: retiredWith(health) })).toEqual({ is: "met", commit: "c3" });
});

test("the time of a soak is what was observed without interruption of the same content", () => {
  const observe = (
    seen: Partial<CommitProgress> & { readonly observedMs?: number },
    before: ReturnType<typeof progressAfter>,
  ) => progressAfter(before, { ...HEALTHY, observedMs: MINUTE, ...seen });
  const msOf = ({ commits }: ReturnType<typeof progressAfter>): number | undefined => commits.at(-1)?.healthyMs;
  const first = observe({}, NO_PROGRESS);
  expect(msOf(first)).toBe(0);
  const second = observe({}, first);
  expect(msOf(second)).toBe(MINUTE);
  expect(msOf(observe({ observedMs: 0 }, second))).toBe(MINUTE);
  expect(msOf(observe({ observedMs: -MINUTE }, second))).toBe(MINUTE);
  expect(msOf(observe({ commit: "c3" }, second))).toBe(2 * MINUTE);
  expect(msOf(observe({ commit: "c3", content: "three" }, second))).toBe(0);
  expect(msOf(observe({ health: "progressing" }, second))).toBe(0);
  expect(msOf(observe({ isApplied: false }, second))).toBe(0);
  const unseen = observe({ health: "unknown", content: null, isApplied: false }, second);
  expect(msOf(unseen)).toBe(MINUTE);
  expect(msOf(observe({ observedMs: 0 }, unseen))).toBe(MINUTE);
  expect(msOf(observe({ content: "other" }, unseen))).toBe(0);
});

test("a place of maxUpdate is free while fewer targets have begun", () => {
  const begun = { target: "a", begun: "c2" };
  const idle = { target: "b", begun: null };
  expect(decidePlace([begun, idle], 2)).toEqual([]);
  expect(decidePlace([begun, idle], 1)).toEqual([
    { target: "a", what: "applies commit c2, and only 1 of the stage may change at once" },
  ]);
  expect(decidePlace([{ target: "a", begun: "0123456789abcdef" }], 1)).toEqual([
    { target: "a", what: "applies commit 0123456789ab, and only 1 of the stage may change at once" },
  ]);
});

test.each<[string, string, readonly [string, boolean][], readonly [string, boolean][], number, boolean]>([
  ["the only one", "b", [], [["b", true]], 1, true],
  [
    "one after another by name",
    "b",
    [],
    [
      ["a", true],
      ["b", true],
    ],
    1,
    false,
  ],
  [
    "one before another by name",
    "a",
    [],
    [
      ["a", true],
      ["b", true],
    ],
    1,
    true,
  ],
  [
    "one after another that has not begun",
    "b",
    [],
    [
      ["a", false],
      ["b", true],
    ],
    1,
    true,
  ],
  [
    "the second of two that may",
    "b",
    [],
    [
      ["a", true],
      ["b", true],
    ],
    2,
    true,
  ],
  [
    "the third where two may",
    "c",
    [],
    [
      ["a", true],
      ["b", true],
      ["c", true],
    ],
    2,
    false,
  ],
  [
    "one beside another that had begun",
    "b",
    [["z", true]],
    [
      ["z", true],
      ["b", true],
    ],
    1,
    false,
  ],
  [
    "one beside another that had begun, where two may",
    "b",
    [["a", true]],
    [
      ["a", true],
      ["b", true],
    ],
    2,
    true,
  ],
  [
    "one after another that had not begun before",
    "b",
    [["a", false]],
    [
      ["a", true],
      ["b", true],
    ],
    1,
    false,
  ],
])("of targets that begin at the same time %s", (_, name, before, after, maxUpdate, goes) => {
  const members = (given: readonly [string, boolean][]) =>
    given.map(([target, hasBegun]) => ({ target, begun: hasBegun ? "c2" : null }));
  expect(goesFirst(name, { before: members(before), after: members(after) }, maxUpdate)).toBe(goes);
});

test("what a commit waits for is one line, with three targets at most", () => {
  const missing = ["a", "b", "c", "d", "e"].map((target) => ({ target, what: "x" }));
  expect(missingText(missing.slice(0, 2))).toBe("a: x; b: x");
  expect(missingText(missing.slice(0, 3))).toBe("a: x; b: x; c: x");
  expect(missingText(missing)).toBe("a: x; b: x; c: x; and 2 more");
});

test.each([
  [0, "0s"],
  [999, "0s"],
  [1000, "1s"],
  [61_500, "1m 1s"],
  [3_600_000, "1h"],
  [3_601_000, "1h"],
  [90_000_000, "1d 1h"],
  [86_400_000 * 40, "40d"],
])("%i ms are %s", (ms, text) => {
  expect(durationText(ms)).toBe(text);
});

test.each<[Partial<CommitProgress>, boolean, boolean, boolean]>([
  [{}, false, true, true],
  [{ failure: "1 failed" }, true, false, false],
  [{ health: "failed" }, true, true, false],
  [{ health: "progressing" }, false, true, false],
  [{ isApplied: false }, false, false, false],
])("a commit with %j has failed: %s, is done where it is synced: %s, where it is healthy: %s", (given, ...expected) => {
  const commit = { ...HEALTHY, ...given };
  expect([hasFailed(commit), isDone(commit, "synced"), isDone(commit, "healthy")]).toEqual(expected);
  expect(hasFailed(commit, false)).toBe(given.failure !== undefined);
});

test("the last fifty commits of a target are kept, each once, and the place that it takes", () => {
  let progress = withBegun(NO_PROGRESS, "c7");
  for (let at = 0; at < 60; at += 1)
    progress = progressAfter(progress, { ...HEALTHY, commit: `c${at}`, observedMs: 0 });
  progress = progressAfter(progress, { ...HEALTHY, commit: "c20", observedMs: 0 });
  expect(progress.commits.map(({ commit }) => commit).slice(0, 2)).toEqual(["c10", "c11"]);
  expect(progress.commits.at(-1)).toEqual({ ...HEALTHY, commit: "c20" });
  expect([progress.commits.length, progress.begun]).toEqual([50, "c7"]);
});

test("what could not be seen of another commit is compared with nothing", () => {
  const before = progressAfter(NO_PROGRESS, { ...HEALTHY, observedMs: 0 });
  const look = (commit: string) =>
    progressAfter(before, { ...HEALTHY, ...unseen("unreachable"), commit, observedMs: MINUTE }).commits.at(-1);
  expect(look("c2")).toMatchObject({ content: "two", why: "unreachable", health: "unknown", isApplied: false });
  expect(look("c3")).toMatchObject({ content: null, healthyMs: 0 });
});
