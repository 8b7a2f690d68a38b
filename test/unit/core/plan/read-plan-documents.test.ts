import { expect, test } from "vitest";
import type { Json } from "../../../../src/contract/json.ts";
import { readPlanDocuments } from "../../../../src/core/plan/read-plan-documents.ts";
import { sampleChange, samplePlan, sampleStep } from "../../../support/sample-plan.ts";

const step = sampleStep("team/ml", {
  changes: [sampleChange("replicas", 1, 2)],
  changedBy: { subject: null, subjectId: null, at: "now" },
  notChecked: { reason: "depends-on", on: ["team/web"] },
});
const plan = samplePlan([step]);
const asJson = (value: unknown): Json => JSON.parse(JSON.stringify(value));

test("a plan, a failure and several targets are read", () => {
  const failure = { format_version: "2.2", error: { code: "error", message: "no", hint: null }, diagnostics: [] };
  expect(readPlanDocuments(asJson(plan))).toMatchObject([{ is: "plan", target: null }]);
  expect(readPlanDocuments(asJson(failure))).toMatchObject([{ is: "failure", failure: { message: "no" } }]);
  const targets = [
    { target: "a", ...plan },
    { target: "b", ...failure },
  ];
  expect(readPlanDocuments(asJson({ format_version: "2.2", targets }))).toMatchObject([
    { target: "a" },
    { target: "b" },
  ]);
});

test("a drift report is read, and one that is forged is none", () => {
  const summary = { drifted: 1, unrecorded: 0, absent: 0, unchanged: 0, unknown: 0, orphan: 0, invalid: 0 };
  const entry = { identity: "team/ml", kind: "team", file: null, line: null, state: "drifted", changes: [] };
  const report = {
    format_version: "2.2",
    server: "https://a",
    complete: true,
    summary,
    drift: [entry],
    diagnostics: [],
  };
  expect(readPlanDocuments(asJson(report))).toMatchObject([{ is: "drift" }]);
  for (const forged of [{ state: "@ada" }, { changes: [{}] }, { changedBy: { subject: 1, at: null } }, { identity: 1 }])
    expect(readPlanDocuments(asJson({ ...report, drift: [{ ...entry, ...forged }] }))).toBeNull();
  expect(readPlanDocuments(asJson({ ...report, summary: {} }))).toBeNull();
});

test.each([
  {},
  [],
  null,
  { ...plan, format_version: "9.0" },
  { ...plan, server: 1 },
  { ...plan, steps: {} },
  { ...plan, steps: [null] },
  { ...plan, steps: [{ ...step, action: "<b>" }] },
  { ...plan, steps: [{ ...step, action: "constructor" }] },
  { ...plan, steps: [{ ...step, risks: ["@ada"] }] },
  { ...plan, steps: [{ ...step, reason: "toString" }] },
  { ...plan, steps: [{ ...step, causedBy: "@ada" }] },
  { ...plan, steps: [{ ...step, file: 1 }] },
  { ...plan, steps: [{ ...step, line: "1\n::error::x" }] },
  { ...plan, steps: [{ ...step, changedBy: { subject: {}, at: null } }] },
  { ...plan, steps: [{ ...step, notChecked: { reason: "depends-on", on: [1] } }] },
  { ...plan, steps: [{ ...step, changes: [{ label: {} }] }] },
  { ...plan, steps: [{ ...step, changes: [{ ...sampleChange("a", 1, 2), cause: "**a**" }] }] },
  { ...plan, summary: { ...plan.summary, keep: "@ada" } },
  { ...plan, diagnostics: [{ severity: "fatal" }] },
  { format_version: "2.2", targets: [] },
  { format_version: "2.2", targets: [plan, {}] },
  { format_version: "2.2", error: { code: "error", message: 1, hint: null } },
  { format_version: "2.2", error: { code: "@ada", message: "no", hint: null } },
])("S77 a document that is forged is none: %j", (document) => {
  expect(readPlanDocuments(asJson(document))).toBeNull();
});
