import { describe, expect, test } from "vitest";
import { adoptionText } from "../../../../src/core/guards/adoption.ts";
import {
  applyConclusion,
  isHolding,
  isWhole,
  type PassFacts,
  type PassVerdict,
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

test("an apply counts what it left, most important first", () => {
  const team = (result: OutcomeResult, name: string, fields: Partial<Outcome> = {}) =>
    outcome(result, { identity: `team/${name}`, ...fields });
  const coded = (code: string, message = "no") => ({ error: { code, message } });
  const two = (result: OutcomeResult, name: string, fields: Partial<Outcome> = {}) =>
    ["1", "2"].map((end) => team(result, `${name}${end}`, fields));
  const frozen = coded("frozen", "frozen until Monday");
  const outcomes = [
    ...two("skipped", "s"),
    ...two("skipped", "z", frozen),
    // A write of an earlier run that is no longer declared.
    team("skipped", "old", { interrupted: "not-made" }),
    ...two("blocked", "h", coded("held")),
    ...two("blocked", "p", coded("drift-held")),
    ...two("blocked", "b", coded("guard")),
    ...two("updated", "r", { rollout: "failed" }),
    ...two("unknown", "u"),
    ...two("failed", "f"),
    ...two("invalid", "i", { file: "a.yaml", line: 7 }),
  ];
  const { result, reasons, left } = applyConclusion(sampleApplyEvent(outcomes));
  const expected = [
    { reason: "InvalidManifests", message: "2 of 19 manifests are invalid: a.yaml:7, a.yaml:7" },
    { reason: "Failed", message: "2 failed" },
    { reason: "Unknown", message: "2 unknown" },
    { reason: "RolloutFailed", message: "2 failed rollouts" },
    { reason: "Blocked", message: "2 blocked" },
    { reason: "Skipped", message: "2 skipped" },
    { reason: "Frozen", message: "2 resources frozen until Monday" },
    { reason: "Held", message: "2 held: team/h1, team/h2" },
  ];
  expect([result, left]).toEqual(["incomplete", expected]);
  expect(reasons).toEqual([...expected, { reason: "Held", message: "2 held: team/p1, team/p2" }]);
});

test.each<[string, PassVerdict, string, readonly Partial<Outcome>[]]>([
  ["a freeze alone", "held", "incomplete", [outcome("skipped", { error: { code: "frozen", message: "is frozen" } })]],
  ["a hold alone", "held", "incomplete", [outcome("blocked", { error: { code: "held", message: "no" } })]],
  [
    "drift that is proposed alone",
    "held",
    "applied",
    [outcome("blocked", { error: { code: "drift-held", message: "" } })],
  ],
  [
    "a hold and a failure",
    "failed",
    "incomplete",
    [outcome("blocked", { error: { code: "held", message: "no" } }), outcome("failed")],
  ],
  [
    "a failure with the code of a hold",
    "failed",
    "incomplete",
    [outcome("failed", { error: { code: "held", message: "no" } })],
  ],
  ["nothing", "succeeded", "applied", [outcome("unchanged")]],
])("an apply that leaves %s is %s, and its result is %s", (_, verdict, result, outcomes) => {
  const event = sampleApplyEvent(outcomes);
  expect(applyConclusion(event)).toMatchObject({ verdict, result });
  expect(isWhole(event.report)).toBe(result === "applied");
});

test("a pass that ended before is judged by why", () => {
  const verdictOf = (facts: Partial<PassFacts>) => passConclusion({ ...nothing, ...facts });
  const waiting = { reason: "Waiting", message: "it has not passed the targets before it" };
  expect(verdictOf({ failure: reason })).toEqual({
    result: "failed",
    verdict: "failed",
    reasons: [reason],
    left: null,
  });
  expect(verdictOf({ kept: waiting, applied: whole })).toEqual({
    ...{ result: "kept", verdict: "held", reasons: [waiting], left: [] },
  });
  expect(verdictOf({ isRefused: true }).reasons).toEqual([
    { reason: "SourceRefused", message: "the source has errors" },
  ]);
  expect(verdictOf({}).reasons).toEqual([{ reason: "Failed", message: "the pass ended without a report" }]);
  expect(verdictOf({ standby: "another process leads" })).toMatchObject({
    ...{ verdict: "superseded", reasons: [{ reason: "StandingBy", message: "another process leads" }] },
  });
  expect(verdictOf({ planned: reportOf(2) })).toMatchObject({ verdict: "succeeded", reasons: [] });
  expect(["Held", "Frozen", "Waiting", "Failed"].map((one) => isHolding({ reason: one }))).toEqual([
    true,
    true,
    true,
    false,
  ]);
});

test("a report counts all that is declared, and names three diagnostics of what it could not read", () => {
  const counts = { create: 1, update: 2, keep: 3, ensure: 4, block: 5 };
  const summary = { ...emptySummary, ...counts, orphan: 7 };
  const place = { detail: null, file: null, line: null, column: null };
  const unread = ["a", "b", "c", "d"].map(
    (text) => ({ severity: "error", code: "unreadable", summary: text, ...place }) as const,
  );
  const note = { severity: "error", code: "note", summary: "no", ...place } as const;
  const reasonsOf = (planned: object) =>
    passConclusion({ ...nothing, planned: planned as PassFacts["planned"] }).reasons;
  const invalid = [outcome("invalid", { file: "a.yaml" }), outcome("invalid", { file: "b.yaml" })];
  expect(reasonsOf({ plan: { complete: false, diagnostics: [], summary }, invalid })).toEqual([
    { reason: "InvalidManifests", message: "2 of 17 manifests are invalid: a.yaml, b.yaml" },
  ]);
  expect(
    reasonsOf({ plan: { complete: false, diagnostics: [], summary: emptySummary }, invalid: invalid.slice(0, 1) }),
  ).toEqual([{ reason: "InvalidManifests", message: "1 of 1 manifest is invalid: a.yaml" }]);
  const readOf = (diagnostics: readonly object[]) => reasonsOf({ plan: { complete: true, diagnostics, summary } });
  expect(readOf([note, ...unread])).toEqual([{ reason: "Unread", message: "a, b, c, and 1 more" }]);
  expect(readOf(unread.slice(0, 3))).toEqual([{ reason: "Unread", message: "a, b, c" }]);
  expect(readOf([note])).toEqual([]);
});

test("what can be adopted comes with the commands that do so", () => {
  const change = { path: "/members", label: "members", before: 1, after: 2, cause: "unrecorded", diff: null } as const;
  const stepOf = (identity: string, changes: readonly (typeof change)[]) =>
    ({ identity, action: "block", risks: ["adopts"], changes }) as const;
  const blocked = ["team/a", "team/b"].map((identity) => outcome("blocked", { identity }));
  const event = sampleApplyEvent(blocked, [stepOf("team/a", [change]), stepOf("team/b", [])]);
  expect(applyConclusion(event).reasons).toEqual([
    {
      reason: "NotAdopted",
      message: `2 of 2 blocked until adopted or allowed: team/a, team/b; ${adoptionText(["team/a"])}`,
    },
  ]);
});

test("one frozen resource is told as one, and no reason as none", () => {
  const frozen = outcome("skipped", { error: { code: "frozen", message: "is frozen" } });
  const { reasons } = applyConclusion(sampleApplyEvent([frozen]));
  expect(reasonsText(reasons)).toBe("one resource is frozen");
  expect(reasonsText([])).toBeNull();
});
