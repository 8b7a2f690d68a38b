import { describe, expect, test } from "vitest";
import {
  applyConclusion,
  isWhole,
  type PassFacts,
  passConclusion,
  passResultNames,
  reasonsText,
} from "../../../../src/core/report/pass-result.ts";
import type { Outcome, OutcomeResult } from "../../../../src/core/report/report.ts";
import { sampleApplyEvent } from "../../../support/sample-apply-event.ts";
import { emptySummary } from "../../../support/sample-plan.ts";

const outcome = (result: OutcomeResult, rest: Partial<Outcome> = {}): Partial<Outcome> => {
  return { identity: `team/${result}`, result, rollout: null, ...rest };
};

const nothing: PassFacts = {
  failure: null,
  kept: null,
  standby: null,
  isRefused: false,
  planned: null,
  applied: null,
};
const reason = { reason: "Unreachable", message: "no answer" };
const reportOf = (keep: number, ...invalid: readonly Partial<Outcome>[]) => ({
  plan: { complete: invalid.length === 0, diagnostics: [], summary: { ...emptySummary, keep } },
  invalid: invalid as readonly Outcome[],
});
const whole = sampleApplyEvent([outcome("created"), outcome("unchanged")]);
const partial = sampleApplyEvent([outcome("updated"), outcome("failed")]);

describe("the result of a pass", () => {
  test.each<[(typeof passResultNames)[number], Partial<PassFacts>]>([
    ["applied", { applied: whole }],
    ["incomplete", { applied: partial }],
    ["failed", { failure: reason, applied: whole }],
    ["failed", {}],
    ["kept", { kept: reason, applied: whole }],
    ["superseded", { standby: "another process leads" }],
    ["refused", { isRefused: true }],
    ["reported", { planned: reportOf(2) }],
    ["incomplete", { planned: reportOf(1, outcome("invalid", { file: "a.yaml", line: 7 })) }],
  ])("is %s", (result, facts) => {
    const conclusion = passConclusion({ ...nothing, ...facts });
    expect(conclusion.result).toBe(result);
    expect(conclusion.reasons.length > 0).toBe(result !== "applied" && result !== "reported");
  });

  test("has a case above for each", () => {
    expect(passResultNames).toHaveLength(7);
  });
});

test.each<[string, string, Partial<Outcome>]>([
  ["InvalidManifests", "1 of 2 manifests is invalid: a.yaml:7", outcome("invalid", { file: "a.yaml", line: 7 })],
  ["Failed", "1 failed", outcome("failed")],
  ["Unknown", "1 unknown", outcome("unknown")],
  ["RolloutFailed", "1 failed rollout", outcome("updated", { rollout: "timeout" })],
  ["Blocked", "1 blocked", outcome("blocked", { error: { code: "guard", message: "held" } })],
  ["Skipped", "1 skipped", outcome("skipped")],
  ["Held", "1 held: team/ml", outcome("blocked", { identity: "team/ml", error: { code: "held", message: "held" } })],
])("an apply that left something is incomplete, because of %s", (name, message, left) => {
  const event = sampleApplyEvent([outcome("unchanged"), left]);
  const reasons = [{ reason: name, message }];
  const verdict = name === "Held" ? "held" : "failed";
  expect(applyConclusion(event)).toEqual({ result: "incomplete", verdict, reasons, left: reasons });
  expect(isWhole(event.report)).toBe(false);
});

test("a report that leaves something out is incomplete, and says what", () => {
  const part = reportOf(1, outcome("invalid", { file: "a.yaml", line: 7 }));
  const summary = "13 of 48 not visible to this token";
  const place = { detail: null, file: null, line: null, column: null };
  const hidden = { severity: "error", code: "not-visible", summary, ...place } as const;
  const reasonsOf = (planned: PassFacts["planned"]) => passConclusion({ ...nothing, planned }).reasons;
  const invalid = { reason: "InvalidManifests", message: "1 of 2 manifests is invalid: a.yaml:7" };
  expect(reasonsOf(part)).toEqual([invalid]);
  expect(reasonsOf({ ...part, plan: { ...part.plan, diagnostics: [hidden] } })).toEqual([
    invalid,
    { reason: "Unread", message: summary },
  ]);
  const unread = { ...reportOf(2).plan, complete: false };
  expect(reasonsOf({ plan: unread })).toEqual([{ reason: "Unread", message: "live could not be read in full" }]);
});

test("what somebody else manages is told apart from what is blocked, and all reasons are one line", () => {
  const files = ["a.yaml", "b.yaml", "c.yaml", "d.yaml"];
  const invalid = files.map((file) => outcome("invalid", { identity: "", file, line: null }));
  const step = { identity: "team/ml", action: "block", risks: ["adopts"], changes: [] } as const;
  const event = sampleApplyEvent([outcome("blocked", { identity: "team/ml" }), outcome("blocked"), ...invalid], [step]);
  const { reasons } = applyConclusion(event);
  expect(reasons.map((one) => one.reason)).toEqual(["InvalidManifests", "NotAdopted", "Blocked"]);
  expect(reasonsText(reasons)).toBe(
    "4 of 6 manifests are invalid: a.yaml, b.yaml, c.yaml, and 1 more; 1 of 6 blocked until adopted or allowed: team/ml; 1 blocked",
  );
});
