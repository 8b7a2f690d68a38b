import { expect, test } from "vitest";
import { lastAppliedText, placeText } from "../../../../src/core/report/invalid-text.ts";
import {
  hasBadRollout,
  invalidOutcome,
  isSettled,
  isSuccess,
  type Outcome,
  type OutcomeResult,
  type RolloutResult,
  summariseOutcomes,
} from "../../../../src/core/report/report.ts";

const results = ["created", "updated", "unchanged", "skipped", "blocked", "failed", "unknown", "invalid"] as const;
const rollouts = ["succeeded", "failed", "timeout", "progressing", null] as const;

test("outcomes are counted by their results", () => {
  const outcomes = results.flatMap((result, at) => Array.from({ length: at + 1 }, () => ({ result }) as Outcome));
  expect(summariseOutcomes(outcomes)).toEqual(Object.fromEntries(results.map((result, at) => [result, at + 1])));
  expect(summariseOutcomes([])).toEqual(Object.fromEntries(results.map((result) => [result, 0])));
});

test("a resource is as declared after a write, or without one, and settled where its rollout has not failed", () => {
  const successes: readonly OutcomeResult[] = ["created", "updated", "unchanged"];
  expect(results.filter(isSuccess)).toEqual(successes);
  const bad: readonly RolloutResult[] = ["failed", "timeout"];
  expect(rollouts.filter((rollout) => hasBadRollout({ rollout: rollout as RolloutResult }))).toEqual(bad);
  expect(hasBadRollout({})).toBe(false);
  expect(results.filter((state) => isSettled({ state, rollout: null as RolloutResult }))).toEqual(successes);
  expect(isSettled({ state: "updated", rollout: "failed" })).toBe(false);
});

test("the outcome of an invalid manifest says what is wrong and what stays in force", () => {
  const place = { identity: "team/ml", kind: "team", file: "team.yaml", line: 7 };
  const invalid = { ...place, code: "required", message: "`members` is missing" };
  const outcome = {
    ...place,
    ...{ result: "invalid", rollout: null, attempts: 0, lastGood: null },
    error: { code: "required", message: "`members` is missing" },
  };
  expect(invalidOutcome(invalid)).toEqual(outcome);
  const lastGood = { version: 3, at: "2026-11-20T10:00:00Z" } as NonNullable<Outcome["lastGood"]>;
  expect(invalidOutcome(invalid, lastGood)).toEqual({ ...outcome, lastGood });
  expect([lastGood, { ...lastGood, version: null }, null].map(lastAppliedText)).toEqual([
    "in force is version 3, as of 2026-11-20T10:00:00Z",
    "in force is what was written last, as of 2026-11-20T10:00:00Z",
    "no write of it is recorded here",
  ]);
});

test("the place of an invalid manifest is its file and its line", () => {
  expect(placeText({ file: "team.yaml", line: 7 })).toBe("team.yaml:7");
  expect(placeText({ file: "team.yaml", line: null })).toBe("team.yaml");
  expect(placeText({ file: "team.yaml" })).toBe("team.yaml");
  expect(placeText({ file: null })).toBe("");
});
