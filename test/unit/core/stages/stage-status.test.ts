import { expect, test } from "vitest";
import type { TargetStatus } from "../../../../src/core/report/target-status.ts";
import { type StagedTarget, stageStatuses } from "../../../../src/core/stages/stage-status.ts";
import { stagesOf } from "../../../../src/core/stages/stages.ts";
import type { CommitProgress } from "../../../../src/core/stages/target-progress.ts";

const status = {
  ...{ target: "a", reason: "Reconciled", message: "all is applied", sync: "Synced", condition: "Ready" },
  appliedRevision: "c0",
} as unknown as TargetStatus;
const applied: CommitProgress = {
  ...{ commit: "c1", isApplied: true, failure: null, health: "healthy", why: null, content: "x", healthyMs: 90_000 },
};

function staged(
  last: Partial<CommitProgress> | null,
  of: Partial<TargetStatus> = {},
  hold: string | null = null,
): StagedTarget {
  const commits =
    last === null
      ? []
      : [
          { ...applied, commit: "older" },
          { ...applied, ...last },
        ];
  return { status: { ...status, ...of }, progress: { commits, begun: null }, hold };
}

const stages = stagesOf([
  { name: "a", after: [], stage: null, follows: "x" },
  { name: "b", after: [], stage: null, follows: "x" },
  { name: "c", after: ["a", "b"], stage: "prod", follows: "x" },
]);

test.each<[string, StagedTarget, { state: string; message: string | null; commit: string }]>([
  ["healthy", staged({}), { state: "Healthy", message: "healthy for 1m 30s", commit: "c1" }],
  ["held", staged({ failure: "1 failed" }, {}, "incident 12"), { state: "Held", message: "incident 12", commit: "c1" }],
  ["failed", staged({ failure: "1 failed", why: "x" }), { state: "Failed", message: "1 failed", commit: "c1" }],
  [
    "failed rollouts",
    staged({ health: "failed", why: "service/a" }),
    { state: "Failed", message: "service/a", commit: "c1" },
  ],
  [
    "failed and waiting",
    staged({ failure: "1 failed" }, { reason: "Waiting" }),
    { state: "Failed", message: "1 failed", commit: "c1" },
  ],
  [
    "waiting",
    staged({}, { reason: "Waiting", message: "for b" }),
    { state: "Waiting", message: "for b", commit: "c1" },
  ],
  [
    "halted",
    staged(null, { reason: "Halted", message: "b failed" }),
    { state: "Halted", message: "b failed", commit: "c0" },
  ],
  ["without a commit, in sync", staged(null), { state: "Synced", message: "all is applied", commit: "c0" }],
  [
    "without a commit, not in sync",
    staged(null, { sync: "OutOfSync" }),
    { state: "Unknown", message: "all is applied", commit: "c0" },
  ],
  [
    "without a commit, not ready",
    staged(null, { condition: "Stalled" }),
    { state: "Unknown", message: "all is applied", commit: "c0" },
  ],
  [
    "applied in part",
    staged({ isApplied: false, why: "1 blocked" }),
    { state: "Progressing", message: "1 blocked", commit: "c1" },
  ],
  [
    "rolling out",
    staged({ health: "progressing", why: "service/a" }),
    { state: "Progressing", message: "service/a", commit: "c1" },
  ],
  [
    "not seen",
    staged({ health: "unknown", why: "unreachable" }),
    { state: "Unknown", message: "unreachable", commit: "c1" },
  ],
])("a target that is %s", (_, target, shown) => {
  expect(stageStatuses(stages, new Map([["a", target]]))).toEqual([
    { name: "first", after: [], state: shown.state, targets: [{ target: "a", ...shown }] },
  ]);
});

test("a target without a record has the commit that its status names", () => {
  const [first] = stageStatuses(stages, new Map([["a", { ...staged(null), progress: null }]]));
  expect(first?.targets).toEqual([{ target: "a", commit: "c0", state: "Synced", message: "all is applied" }]);
});

test("a stage is what the most important one of its targets is, and is left out without targets", () => {
  const targets = new Map([
    ["a", staged({})],
    ["b", staged({ isApplied: false, why: "1 blocked" }, { target: "b" })],
  ]);
  const shown = stageStatuses(stages, targets);
  expect(shown.map(({ name, state, targets: of }) => [name, state, of.length])).toEqual([["first", "Progressing", 2]]);
  const all = stageStatuses(stages, new Map([...targets, ["c", staged({}, {}, "wait")]]));
  expect(all.map(({ name, after, state }) => [name, after, state])).toEqual([
    ["first", [], "Progressing"],
    ["prod", ["a", "b"], "Held"],
  ]);
});
