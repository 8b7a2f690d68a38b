import { expect, test } from "vitest";
import { readPlanDocuments } from "../../../../src/core/plan/read-plan-documents.ts";
import { reviewMarkdown } from "../../../../src/render/markdown/review.ts";
import { simulationMarkdown } from "../../../../src/render/simulation.ts";
import { sampleChange, samplePlan, sampleStep } from "../../../support/sample-plan.ts";

const view = { revision: "a".repeat(40), whole: "The job has all of them.", isUnverified: false, most: 60_000 };

test.each([1, 40, 500])("the plans of %i targets are one comment that a forge takes", (count) => {
  const steps = Array.from({ length: 200 }, (_, at) =>
    sampleStep(`service/c1:ws1/${"n".repeat(150)}${at}`, {
      risks: ["exposure"],
      changes: [sampleChange("replicas", at, 1)],
    }),
  );
  const targets = Array.from({ length: count }, (_, at) => ({ target: `target-${at}`, ...samplePlan(steps) }));
  const documents = readPlanDocuments(JSON.parse(JSON.stringify({ format_version: "2.2", targets })));
  const text = reviewMarkdown(documents ?? [], view);
  expect(text.length).toBeLessThanOrEqual(60_000);
  expect(text).toContain("`target-0`");
  expect(text.includes("And 400 more targets")).toBe(count === 500);
});

test("a simulation of everything is a comment that a forge takes, with true counts", () => {
  const names = Array.from({ length: 3000 }, (_, at) => `service/c1:ws1/${"n".repeat(150)}${at}`);
  const phase = {
    created: names,
    updated: names,
    rollouts: names,
    refused: names.map((identity) => ({ identity, why: "w".repeat(300) })),
  };
  const stays = names.map((identity) => ({ identity, what: "resource" as const }));
  const simulation = {
    format_version: "2.2",
    simulation: true,
    ...{
      base: phase,
      change: phase,
      revert: phase,
      stays,
      notComparable: names,
      unknown: [],
      unseen: names,
      diagnostics: [],
    },
  } as const;
  const text = simulationMarkdown(simulation, 60_000);
  expect(text.length).toBeLessThanOrEqual(60_000);
  expect(text).toContain("**Created: 3000**");
});
