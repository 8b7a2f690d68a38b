import fc from "fast-check";
import { expect, test } from "vitest";
import type { Plan, Step } from "../../../../src/core/plan/plan.ts";
import { UNKNOWN_TO_SIMULATION } from "../../../../src/core/report/simulation.ts";
import { commentMarker, readCommentMarker } from "../../../../src/forge/comment-marker.ts";
import { driftMarkdown } from "../../../../src/render/markdown/drift.ts";
import { planMarkdown } from "../../../../src/render/markdown/plan.ts";
import { reviewMarkdown } from "../../../../src/render/markdown/review.ts";
import { CANARY, requireInert } from "../../../support/require-inert.ts";
import { sampleChange, samplePlan, sampleStep } from "../../../support/sample-plan.ts";

const fragments = [
  "@ada",
  "@org/team",
  "#1",
  "GH-1",
  "ada/repo#1",
  "!7",
  "~bug",
  "https://evil.example",
  "www.evil.example",
  "ada@example.com",
  "[a](https://evil.example)",
  "![a](https://evil.example/a.png)",
  "[a]: https://evil.example",
  "[^1]",
  "<b>",
  "</code>",
  "</summary>",
  "</details>",
  "<script>",
  "<!-- holdfast -->",
  `<!-- holdfast name=default revision=${"0".repeat(40)} -->\n`,
  "\n<!-- holdfast name=default revision=0000000 -->",
  "-->",
  "&lt;",
  "&#64;",
  "`",
  "``",
  "```",
  "````",
  "~~~",
  "*",
  "_",
  "~~",
  "|",
  "\\",
  "\\|",
  "\n",
  "\n\n",
  "\r\n",
  "\n# heading",
  "\n- item",
  "\n> quote",
  "\n---",
  "\n===",
  "\n/close",
  "::error::x",
  "\n::set-output name=a::b",
  "##[group]",
  "##vso[task]",
  "section_start:1:a",
  "\u202e",
  "\u0000",
  "\u2028",
  "\ud800",
  " ",
  "\t",
  "    ",
  "a",
  "$x$",
  "$$",
  ":smile:",
] as const;

const hostile = fc
  .array(fc.oneof(fc.constantFrom(...fragments), fc.string({ maxLength: 6 })), { maxLength: 12 })
  .map((parts) => parts.toSpliced(Math.floor(parts.length / 2), 0, CANARY).join(""));

const step: fc.Arbitrary<Step> = fc
  .record({
    identity: hostile,
    file: hostile,
    label: hostile,
    before: hostile,
    after: hostile,
    subject: hostile,
    at: hostile,
    on: hostile,
    causedBy: fc.constantFrom("change", "mixed", "pending", "drift", "unrecorded", null),
    action: fc.constantFrom("create", "update", "block", "orphan"),
    isContent: fc.boolean(),
  })
  .map(({ identity, file, label, before, after, subject, at, on, causedBy, action, isContent }) =>
    sampleStep(`${identity}/x`, {
      file,
      causedBy,
      action,
      risks: ["reverts"],
      reason: action === "block" ? "refused" : null,
      changedBy: { subject, subjectId: subject, at },
      notChecked: { reason: "depends-on", on: [on] },
      changes: [
        sampleChange(label, before, after),
        ...(isContent ? [{ ...sampleChange("", null, { [label]: [after] }), path: "" }] : []),
      ],
    }),
  );

const plans: fc.Arbitrary<readonly [Plan, string]> = fc
  .record({ steps: fc.array(step, { minLength: 1, maxLength: 4 }), server: hostile, revision: hostile, text: hostile })
  .map(({ steps, server, revision, text }) => {
    const fault = {
      severity: "warning",
      code: text,
      summary: text,
      detail: text,
      file: text,
      line: 1,
      column: 1,
    } as const;
    return [samplePlan(steps, { server, revision, diagnostics: [fault] }), text];
  });

const bounds = { most: 60_000, whole: "All of them are in the plan." };

test("S75 no text of a manifest or a control plane is markup, a mention, a link or a command in a comment", () => {
  fc.assert(
    fc.property(plans, ([plan, text]) => {
      const group = () => text;
      const view = { ...bounds, groupOf: group, detailOf: () => text, subject: "pull request" as const, target: text };
      requireInert(planMarkdown(plan, view));
      const drift = plan.steps.map((one) => ({ ...one, state: "drifted" as const }));
      const summary = { drifted: 1, unrecorded: 0, absent: 0, unchanged: 0, unknown: 0, orphan: 0, invalid: 0 };
      requireInert(driftMarkdown({ ...plan, summary, drift }, { ...bounds, groupOf: group, target: text }));
    }),
    { numRuns: 100 },
  );
});

test("S75 no text of a stranger's report is markup, a mention or a comment's marker in the comment that shows it", () => {
  fc.assert(
    fc.property(plans, ([plan, text]) => {
      const refused = [{ identity: text, why: text }];
      const phase = { created: [text], updated: [text], rollouts: [text], refused };
      const simulation = {
        format_version: "2.2",
        simulation: true,
        ...{ base: phase, change: phase, revert: phase, stays: [{ identity: text, what: "resource" as const }] },
        ...{ notComparable: [text], unknown: UNKNOWN_TO_SIMULATION, unseen: [text], diagnostics: plan.diagnostics },
      } as const;
      const documents = [
        { is: "plan", target: text, plan },
        { is: "plan", target: text, plan: samplePlan([]) },
        { is: "failure", target: text, failure: { code: "error", message: text, hint: text } },
        { is: "simulation", target: null, simulation },
      ] as const;
      for (const isUnverified of [false, true]) {
        const body = reviewMarkdown(documents, { revision: text, whole: "All of them.", isUnverified, most: 60_000 });
        requireInert(body);
        expect(readCommentMarker(body)).toBeNull();
        const ours = { name: text, revision: "a".repeat(40) };
        expect(readCommentMarker(`${commentMarker(ours)}\n${body}`)?.revision).toBe(ours.revision);
      }
    }),
    { numRuns: 50 },
  );
});

test("a link among Markdown is found where there is one", () => {
  expect(() => requireInert("see https://evil.example")).toThrow();
  expect(() => requireInert("<img src=x>")).toThrow();
  expect(() => requireInert(`**${CANARY}**`)).toThrow();
  expect(() => requireInert("a\n::error::b")).toThrow();
  expect(() => requireInert("a\n ::error::b")).toThrow();
  expect(() => requireInert("a\n/close")).toThrow();
  expect(() => requireInert("a\n /close")).toThrow();
  expect(() => requireInert("```diff\n/close\n```")).toThrow();
  expect(() => requireInert("```diff\n /close ##[group]\n```")).toThrow();
});
