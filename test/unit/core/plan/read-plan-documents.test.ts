import { expect, test } from "vitest";
import type { Json, JsonObject } from "../../../../src/contract/json.ts";
import { pointerTokens } from "../../../../src/contract/json-pointer.ts";
import { readPlanDocuments } from "../../../../src/core/plan/read-plan-documents.ts";
import { UNKNOWN_TO_SIMULATION } from "../../../../src/core/report/simulation.ts";
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

const finding = { name: "no-root", severity: "deny", message: "no", file: "policies/a.yaml", line: 3, column: 5 };
const place = { file: "team.yaml", line: 1, column: 1 };
const hardware = { replicas: 1, cpu: 0.5, memory: 1, storage: 1, devices: [{ name: "T4", count: 1 }] };
const change = { ...sampleChange("replicas", 1, 2), diff: "@@ -1 +1 @@\n-1\n+2\n\\ No newline\n" };
const removedBy = { commit: "c0ffee", author: null, at: "2026-11-20T10:00:00Z" };
const registryOnly = [{ kind: "model-version", count: 2, identities: ["model-version/r/m@1"] }];
const diagnostic = { severity: "warning", code: "note", summary: "a note", detail: null, documents: 2 };
const diagnostics = [{ ...diagnostic, ...place, related: [place] }];

/** A plan with everything that one may have. */
const wholePlan = asJson({
  ...plan,
  steps: [
    {
      ...step,
      changes: [change],
      reason: "guard",
      risks: ["exposure"],
      orphan: { recorded: true, isLive: true, notVisible: true, removedBy },
      guard: {
        flags: ["--allow-exposure", "--allow-policy no-root"],
        dangers: [{ risk: "exposure", path: "/ports/0/host", text: "it gets a public address" }],
        policies: ["no-root"],
        isDenied: true,
      },
      gates: [{ name: "review", gate: "sha256:0", place, verdict: "fail", score: 0.5, summary: "below 0.9" }],
      policies: [finding],
    },
  ],
  ignored: 1,
  history: { commits: 10, ended: "start" },
  notWritable: [{ role: "tenant-admin on tenant acme", identities: ["team/ml"] }],
  hardware: { total: hardware, workspaces: [{ workspace: "c1:ws1", difference: hardware }] },
  secretUses: [{ identity: "g/s", key: "k", total: 1, deployments: [{ fqn: "c1:ws1:api", older: true }] }],
  interrupted: [
    { identity: "team/ml", found: "made", next: "record", token: "lost", arrivesUntil: "2026-11-20T10:00:00.5Z" },
  ],
  registryOnly,
  policies: [finding],
  diagnostics,
}) as JsonObject;

/** A drift report with everything that one may have. */
const wholeDrift = asJson({
  format_version: plan.format_version,
  server: "https://a",
  complete: true,
  summary: { drifted: 1, unrecorded: 0, absent: 0, unchanged: 0, unknown: 0, orphan: 0, invalid: 0, notVisible: 0 },
  drift: [
    {
      ...{ identity: "team/ml", kind: "team", file: "team.yaml", line: 1, state: "drifted", changes: [change] },
      changedBy: { subject: "user:ann", subjectId: "id-7", at: "2026-11-20T10:00:00Z" },
      orphan: { recorded: true, isLive: false, removedBy },
    },
  ],
  history: { commits: 10, ended: "limit" },
  registryOnly,
  diagnostics,
}) as JsonObject;

const phase = {
  created: ["team/a"],
  updated: ["team/b"],
  rollouts: ["service/c1:ws1/api"],
  refused: [{ identity: "team/c", why: "no" }],
};
const simulation = asJson({
  format_version: plan.format_version,
  simulation: true,
  base: phase,
  change: phase,
  revert: phase,
  stays: [{ identity: "team/a", what: "resource" }],
  notComparable: ["team/b"],
  unknown: UNKNOWN_TO_SIMULATION,
  unseen: ["team/d"],
}) as JsonObject;

const failure = asJson({
  format_version: plan.format_version,
  error: { code: "error", message: "no", hint: "try again" },
}) as JsonObject;

/** The document with another value at a JSON Pointer; `-` is a further item of a list, and undefined removes the field. */
function withAt(document: JsonObject, pointer: string, value: unknown): Json {
  const [last = "", ...parents] = pointerTokens(pointer).toReversed();
  const copy = structuredClone(document);
  let parent = copy as { [name: string]: Json | undefined };
  for (const token of parents.toReversed()) parent = parent[token] as typeof parent;
  if (Array.isArray(parent) && last === "-") parent.push(value as Json);
  else if (value === undefined) delete parent[last];
  else parent[last] = value as Json;
  return copy;
}

const isRead = (document: Json): boolean => readPlanDocuments(document) !== null;

test("documents with all their fields are read as they are", () => {
  expect(readPlanDocuments(wholePlan)).toEqual([{ is: "plan", target: null, plan: wholePlan }]);
  expect(readPlanDocuments({ ...wholePlan, target: "a" })).toMatchObject([{ target: "a" }]);
  expect(readPlanDocuments(wholeDrift)).toEqual([{ is: "drift", target: null, report: wholeDrift }]);
  expect(readPlanDocuments({ ...wholeDrift, target: "a" })).toMatchObject([{ target: "a" }]);
  expect(readPlanDocuments(simulation)).toEqual([{ is: "simulation", target: null, simulation }]);
  expect(readPlanDocuments(failure)).toEqual([{ is: "failure", target: null, failure: failure.error }]);
});

test.each<[string, ...unknown[]]>([
  ["/revision", null],
  ["/ignored", undefined],
  ["/steps/0/file", null],
  ["/steps/0/line", null],
  ["/steps/0/reason", null],
  ["/steps/0/causedBy", null],
  ["/steps/0/changes/0/diff", null, ""],
  ["/steps/0/changes/0/before", null],
  ["/steps/0/changes/0/after", null],
  ["/steps/0/orphan", undefined],
  ["/steps/0/orphan/notVisible", undefined],
  ["/steps/0/orphan/removedBy", undefined],
  ["/steps/0/changedBy", undefined],
  ["/steps/0/notChecked", undefined],
  ["/steps/0/notChecked/on", undefined],
  ["/steps/0/guard", undefined],
  ["/steps/0/guard/policies", undefined],
  ["/steps/0/guard/isDenied", undefined],
  ["/steps/0/guard/dangers/0/path", null],
  ["/steps/0/gates", undefined],
  ["/steps/0/gates/0/place", null],
  ["/steps/0/gates/0/verdict", "pass", "unanswered"],
  ["/steps/0/gates/0/score", null],
  ["/steps/0/policies", undefined],
  ["/steps/0/policies/0/severity", "confirm", "warn"],
  ["/history", undefined],
  ["/notWritable", undefined],
  ["/hardware", undefined],
  ["/secretUses", undefined],
  ["/interrupted", undefined],
  ["/interrupted/0/token", null],
  ["/interrupted/0/arrivesUntil", null],
  ["/registryOnly", undefined],
  ["/registryOnly/0/count", null],
  ["/policies", undefined],
  ["/diagnostics/0/severity", "error"],
  ["/diagnostics/0/documents", undefined],
  ["/diagnostics/0/file", null],
  ["/diagnostics/0/line", null],
  ["/diagnostics/0/related", undefined],
])("a plan is read with other values at %s: %j", (pointer, ...values) => {
  expect(values.map((value) => isRead(withAt(wholePlan, pointer, value)))).toEqual(values.map(() => true));
});

const list = [{}, [1], [null]] as const;

test.each<[string, ...unknown[]]>([
  ["/revision", 1],
  ["/server", null],
  ["/complete", "true"],
  ["/summary", [], null],
  ["/summary/create", undefined],
  ["/summary/update", undefined],
  ["/summary/refused", "1"],
  ["/ignored", "1"],
  ["/steps", ...list],
  ["/steps/0/action", null],
  ["/steps/0/identity", 1],
  ["/steps/0/kind", 1],
  ["/steps/0/line", 1.5],
  ["/steps/0/wave", "1"],
  ["/steps/0/changes", ...list],
  ["/steps/0/changes/0/path", 1],
  ["/steps/0/changes/0/label", 1],
  ["/steps/0/changes/0/before", undefined],
  ["/steps/0/changes/0/after", undefined],
  ["/steps/0/changes/0/cause", 1],
  ["/steps/0/changes/0/diff", 1, "1", "+1\n::error::x", "x-1"],
  ["/steps/0/reason", 1],
  ["/steps/0/risks", {}],
  ["/steps/0/risks/-", "risky"],
  ["/steps/0/causedBy", 1],
  ["/steps/0/changedBy", "user:ann"],
  ["/steps/0/changedBy/subject", 1],
  ["/steps/0/changedBy/subjectId", 1],
  ["/steps/0/changedBy/at", 1],
  ["/steps/0/orphan", null],
  ["/steps/0/orphan/recorded", "true"],
  ["/steps/0/orphan/isLive", "true"],
  ["/steps/0/orphan/notVisible", false],
  ["/steps/0/orphan/removedBy", "c0ffee"],
  ["/steps/0/orphan/removedBy/commit", 1],
  ["/steps/0/orphan/removedBy/author", 1],
  ["/steps/0/orphan/removedBy/at", 1],
  ["/steps/0/notChecked", "skipped"],
  ["/steps/0/notChecked/reason", "<b>"],
  ["/steps/0/notChecked/on", {}],
  ["/steps/0/notChecked/on/-", 1],
  ["/steps/0/guard", "--allow"],
  ["/steps/0/guard/flags", {}],
  ["/steps/0/guard/flags/-", 1, "allow", " --allow", "--allow a b", "--allow <b>", "--Allow", "--allow a;b"],
  ["/steps/0/guard/policies", [1]],
  ["/steps/0/guard/isDenied", false],
  ["/steps/0/guard/dangers", ...list],
  ["/steps/0/guard/dangers/0/risk", "risky"],
  ["/steps/0/guard/dangers/0/path", 1],
  ["/steps/0/guard/dangers/0/text", 1],
  ["/steps/0/gates", ...list],
  ["/steps/0/gates/0/name", 1],
  ["/steps/0/gates/0/gate", 1],
  ["/steps/0/gates/0/place", "team.yaml"],
  ["/steps/0/gates/0/place/file", 1],
  ["/steps/0/gates/0/place/line", "1"],
  ["/steps/0/gates/0/verdict", "passed"],
  ["/steps/0/gates/0/score", "0.5"],
  ["/steps/0/gates/0/summary", 1],
  ["/steps/0/policies", ...list],
  ["/steps/0/policies/0/name", 1],
  ["/steps/0/policies/0/severity", "fatal"],
  ["/steps/0/policies/0/message", 1],
  ["/steps/0/policies/0/file", 1],
  ["/steps/0/policies/0/line", "3"],
  ["/steps/0/policies/0/column", "5"],
  ["/history", null],
  ["/history/commits", "10"],
  ["/history/ended", "never"],
  ["/notWritable", ...list],
  ["/notWritable/0/role", 1],
  ["/notWritable/0/identities", {}, [1]],
  ["/hardware", null],
  ["/hardware/total", null],
  ["/hardware/total/replicas", "1"],
  ["/hardware/total/cpu", "1"],
  ["/hardware/total/memory", "1"],
  ["/hardware/total/storage", "1"],
  ["/hardware/total/devices", ...list],
  ["/hardware/total/devices/0/name", 1],
  ["/hardware/total/devices/0/count", "1"],
  ["/hardware/workspaces", ...list],
  ["/hardware/workspaces/0/workspace", 1],
  ["/hardware/workspaces/0/difference", {}],
  ["/approvals", null],
  ["/secretUses", ...list],
  ["/secretUses/0/identity", 1],
  ["/secretUses/0/key", 1],
  ["/secretUses/0/total", "1"],
  ["/secretUses/0/deployments", ...list],
  ["/secretUses/0/deployments/0/fqn", 1],
  ["/secretUses/0/deployments/0/older", "no"],
  ["/interrupted", ...list],
  ["/interrupted/0/identity", 1],
  ["/interrupted/0/found", "gone"],
  ["/interrupted/0/next", "stop"],
  ["/interrupted/0/token", "kept"],
  ["/interrupted/0/arrivesUntil", 1, "", "<b>12:00", "12:00<b>"],
  ["/registryOnly", ...list],
  ["/registryOnly/0/kind", 1],
  ["/registryOnly/0/count", "2"],
  ["/registryOnly/0/identities", {}, [1]],
  ["/policies", ...list],
  ["/policies/0/name", 1],
  ["/diagnostics", ...list],
  ["/diagnostics/0/severity", "fatal"],
  ["/diagnostics/0/code", 1],
  ["/diagnostics/0/summary", 1],
  ["/diagnostics/0/detail", 1],
  ["/diagnostics/0/documents", "2"],
  ["/diagnostics/0/file", 1],
  ["/diagnostics/0/line", "1"],
  ["/diagnostics/0/column", "1"],
  ["/diagnostics/0/related", ...list],
  ["/diagnostics/0/related/0/file", null],
  ["/diagnostics/0/related/0/line", null],
  ["/diagnostics/0/related/0/column", null],
])("S77 a plan with a value of another form at %s is none: %j", (pointer, ...values) => {
  expect(values.filter((value) => isRead(withAt(wholePlan, pointer, value)))).toEqual([]);
});

test.each<[string, ...unknown[]]>([
  ["/server", 1],
  ["/complete", 1],
  ["/summary/drifted", undefined],
  ["/summary/notVisible", "0"],
  ["/drift", ...list, null],
  ["/drift/0/identity", 1],
  ["/drift/0/kind", 1],
  ["/drift/0/file", 1],
  ["/drift/0/line", "1"],
  ["/drift/0/state", "lost"],
  ["/drift/0/changes", ...list],
  ["/drift/0/changedBy", null],
  ["/drift/0/orphan", null],
  ["/history/ended", 1],
  ["/registryOnly/0/kind", 1],
  ["/diagnostics/0/code", 1],
])("S77 a drift report with a value of another form at %s is none: %j", (pointer, ...values) => {
  expect(values.filter((value) => isRead(withAt(wholeDrift, pointer, value)))).toEqual([]);
});

test.each<[string, ...unknown[]]>([
  ["/simulation", "true"],
  ["/base", null],
  ["/base/created", {}, [1]],
  ["/change/updated", {}, [1]],
  ["/revert/rollouts", {}, [1]],
  ["/base/refused", ...list],
  ["/base/refused/0/identity", 1],
  ["/base/refused/0/why", 1],
  ["/stays", ...list],
  ["/stays/0/identity", 1],
  ["/stays/0/what", "nothing"],
  ["/notComparable", {}, [1]],
  ["/unseen", {}, [1]],
  ["/unknown", {}, [UNKNOWN_TO_SIMULATION[0], "@ada"]],
])("S77 a simulation with a value of another form at %s is none: %j", (pointer, ...values) => {
  expect(values.filter((value) => isRead(withAt(simulation, pointer, value)))).toEqual([]);
});

test.each([
  ["drift report", wholeDrift, ["/drift/0/file", "/drift/0/line"], null],
  ["drift report", wholeDrift, ["/drift/0/changedBy", "/drift/0/orphan", "/history", "/registryOnly"], undefined],
  ["failure", failure, ["/error/hint"], null],
] as const)("a %s is read without what it may lack", (_, document, pointers, value) => {
  expect(pointers.filter((pointer) => !isRead(withAt(document, pointer, value)))).toEqual([]);
});

test("what stays of a simulation is resources, updates, versions or tokens", () => {
  const kinds = ["resource", "update", "versions", "token"];
  expect(kinds.filter((what) => !isRead(withAt(simulation, "/stays/0/what", what)))).toEqual([]);
});

test("S77 a failure with a value of another form is none", () => {
  for (const error of [{ code: 1 }, { hint: 1 }, { message: null }])
    expect(isRead(asJson({ ...failure, error: { ...(failure.error as JsonObject), ...error } }))).toBe(false);
});
