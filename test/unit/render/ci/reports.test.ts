import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Diagnostic } from "../../../../src/core/diagnostic.ts";
import { annotationsText, diagnosticRemarks, planRemarks, stepOutputs } from "../../../../src/render/ci/annotations.ts";
import { gitlabReport, joinGitlabReports } from "../../../../src/render/ci/gitlab-report.ts";
import { driftOutputs, planOutputs } from "../../../../src/render/ci/plan-outputs.ts";
import { joinSarifReports, sarifReport } from "../../../../src/render/ci/sarif.ts";
import { reviewMarkdown, reviewVerdict } from "../../../../src/render/markdown/review.ts";
import { samplePlan, sampleStep } from "../../../support/sample-plan.ts";

const fault: Diagnostic = {
  severity: "error",
  code: "unknown-field",
  summary: "100 % wrong",
  detail: "a,b: c\n::error::x",
  file: "a,b:c.yaml",
  line: 3,
  column: 5,
};

test("S76 a remark is one workflow command, whatever its texts are", () => {
  expect(annotationsText(diagnosticRemarks([fault]), "deploy")).toBe(
    "::error file=deploy/a%2Cb%3Ac.yaml,line=3,title=unknown-field::100 %25 wrong: a,b: c\\u000a::error::x\n",
  );
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (text, file) => {
      const remarks = diagnosticRemarks([{ ...fault, summary: text, detail: text, code: text, file: `f${file}` }]);
      const lines = annotationsText(remarks, "").split(/[\n\r\u2028\u2029]/);
      expect(lines).toHaveLength(2);
      expect(lines[0]).toMatch(/^::error file=[^:,]*,line=3,title=[^:,]*::/);
    }),
  );
});

test("what is blocked is an error and what is dangerous a warning at its manifest, ten of each at most", () => {
  const steps = [
    sampleStep("team/ml", { action: "block", reason: "guard", risks: ["privilege-growth"] }),
    ...Array.from({ length: 30 }, (_, at) => sampleStep(`service/ws/s${at}`, { risks: ["exposure"] })),
  ];
  const lines = annotationsText(
    planRemarks(samplePlan(steps), () => "warning"),
    "",
  )
    .trimEnd()
    .split("\n");
  expect(lines[0]).toMatch(/^::error file=teams.yaml,line=12,title=blocked%3A guard::team\/ml: /);
  expect(lines).toHaveLength(11);
});

test("S76 no value of a step's output ends itself", () => {
  expect(stepOutputs([["verdict", "a\nholdfast_1\nchanges<<b"]], "holdfast_2")).toBe(
    "verdict<<holdfast_2\na\nholdfast_1\nchanges<<b\nholdfast_2\n",
  );
});

test("the outputs of a step say what a plan comes to, under its target's name", () => {
  const plan = samplePlan([sampleStep("team/ml", { risks: ["reverts"], causedBy: "drift" })]);
  expect(Object.fromEntries(planOutputs(plan, { target: null, subject: "change" }))).toMatchObject({
    update: "1",
    dangerous: "1",
    changes: "true",
    "own-changes": "false",
    verdict: "Holdfast: 1 to update",
  });
  expect(Object.fromEntries(planOutputs(plan, { target: "prod", subject: "change" }))).toMatchObject({
    "prod-changes": "true",
  });
  const summary = { drifted: 0, unrecorded: 1, absent: 0, unchanged: 3, unknown: 0, orphan: 0, invalid: 0 };
  expect(Object.fromEntries(driftOutputs({ summary, complete: true }, null))).toMatchObject({ drift: "true" });
});

test("the outputs, the title and the status of a pull request count its own steps, and name the rest apart", () => {
  const plan = samplePlan([
    sampleStep("service/ws/own", { action: "create", causedBy: "change" }),
    sampleStep("service/ws/both", { causedBy: "mixed", risks: ["reverts"] }),
    sampleStep("service/ws/merged", { action: "create", causedBy: "pending", risks: ["exposure"] }),
    sampleStep("service/ws/unseen", { action: "block", reason: "forbidden", causedBy: null }),
    sampleStep("service/ws/moved", { causedBy: "drift" }),
  ]);
  const verdict = "1 to create, 1 to update; not from this pull request: 1 to create, 1 to update, 1 blocked";
  expect(Object.fromEntries(planOutputs(plan, { target: null, subject: "pull request" }))).toMatchObject({
    create: "1",
    update: "1",
    block: "0",
    dangerous: "1",
    rest: "3",
    verdict: `Holdfast: ${verdict}`,
  });
  expect(reviewVerdict({ is: "plan", target: null, plan })).toEqual({ isGood: true, text: verdict });
  const view = { revision: "c0ffee", whole: "", isUnverified: false, most: 60_000 };
  expect(reviewMarkdown([{ is: "plan", target: null, plan }], view)).toContain(`### Holdfast: ${verdict}\n`);
  const blocked = samplePlan([sampleStep("service/ws/own", { action: "block", reason: "refused" })]);
  expect(reviewVerdict({ is: "plan", target: null, plan: blocked }).isGood).toBe(false);
});

test("the counts of several targets are one report for GitLab", () => {
  const report = gitlabReport({ summary: { create: 1, update: 2 } });
  expect(JSON.parse(report)).toEqual({ create: 1, update: 2, delete: 0 });
  const reports = [JSON.parse(report), {}, JSON.parse(report)];
  expect(JSON.parse(joinGitlabReports(reports))).toEqual({ create: 2, update: 4, delete: 0 });
});

test("SARIF names each rule once, and joins the runs of several targets", () => {
  const other: Diagnostic = { ...fault, severity: "warning", code: "empty", file: null, line: null, column: null };
  const report = JSON.parse(sarifReport([fault, other, fault], (file) => `deploy/${file}`));
  const [run] = report.runs;
  expect(run.tool.driver.rules.map(({ id }: { id: string }) => id).toSorted()).toEqual(["empty", "unknown-field"]);
  for (const { ruleId, ruleIndex } of run.results) expect(run.tool.driver.rules[ruleIndex].id).toBe(ruleId);
  expect(run.results).toContainEqual({
    ruleId: "unknown-field",
    ruleIndex: expect.any(Number),
    level: "error",
    message: { text: "100 % wrong: a,b: c\n::error::x" },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: "deploy/a%2Cb%3Ac.yaml" },
          region: { startLine: 3, startColumn: 5 },
        },
      },
    ],
  });
  expect(JSON.parse(joinSarifReports([report, {}, report])).runs).toHaveLength(2);
});

test("SARIF keeps to the format's own schema, whatever was found and wherever", () => {
  const valid = sarifSchema();
  const found: fc.Arbitrary<Diagnostic> = fc.record({
    severity: fc.constantFrom("error", "warning"),
    code: fc.string({ minLength: 1 }),
    summary: fc.string({ unit: "binary" }),
    detail: fc.option(fc.string({ unit: "binary" })),
    file: fc.option(fc.string({ unit: "binary", minLength: 1 })),
    line: fc.option(fc.integer({ min: 1, max: 10 })),
    column: fc.option(fc.integer({ min: 1, max: 10 })),
  });
  fc.assert(
    fc.property(fc.array(found, { maxLength: 5 }), (diagnostics) => {
      const report = JSON.parse(sarifReport(diagnostics, (file) => `deploy/${file}`));
      for (const one of [report, JSON.parse(joinSarifReports([report, {}, report]))]) {
        valid(one);
        expect(valid.errors ?? []).toEqual([]);
      }
    }),
  );
  const { runs } = JSON.parse(sarifReport([fault], (file) => file));
  expect(valid({ version: "2.1.0", runs: [{ ...runs[0], tool: {} }] })).toBe(false);
});

/** The schema that the format's authors publish (in @microsoft/jest-sarif); its words for draft 4 and 7 are the same. */
function sarifSchema() {
  const file = join(import.meta.dirname, "../../../support/sarif-2.1.0.json");
  const { $schema: _, id: __, ...schema } = JSON.parse(readFileSync(file, "utf8"));
  const ajv = new Ajv({ strict: false, allErrors: true, unicodeRegExp: false });
  addFormats.default(ajv);
  return ajv.compile(schema);
}
