import { expect, test } from "vitest";
import { planMarkdown } from "../../../../src/render/markdown/plan.ts";
import { sampleChange, samplePlan, sampleStep } from "../../../support/sample-plan.ts";

const view = {
  groupOf: ({ identity }: { readonly identity: string }) => identity.split("/")[1] ?? null,
  detailOf: () => null,
  subject: "pull request" as const,
  target: null,
  most: 60_000,
  whole: "All of them are in the log.",
};

function many(count: number, text: string) {
  return samplePlan(
    Array.from({ length: count }, (_, at) =>
      sampleStep(`service/ws${at % 3}/s${at}`, { changes: [sampleChange("description", text, `${text}!`)] }),
    ),
  );
}

test("a plan of many resources is cut between two of them, with true counts and a pointer to the whole", () => {
  const text = planMarkdown(many(2000, "x".repeat(60)), view);
  expect(text.length).toBeLessThanOrEqual(60_000);
  expect(text.length).toBeGreaterThan(55_000);
  expect(text).toContain("2000 to update");
  expect(text).toContain("#### This change: 2000 resources");
  const shown = text.match(/<summary>~ /g)?.length ?? 0;
  expect(text).toContain(`**${shown} of 2000 resources are shown here.** All of them are in the log.`);
  expect(text.match(/<details>/g)).toHaveLength(text.match(/<\/details>/g)?.length ?? 0);
  expect((text.match(/^```/gm)?.length ?? 1) % 2).toBe(0);
});

test("one enormous resource takes no room of the others", () => {
  const text = planMarkdown(many(5, `${"line\n".repeat(20_000)}${"y".repeat(100_000)}`), view);
  expect(text.length).toBeLessThanOrEqual(60_000);
  expect(text.match(/<summary>~ /g)).toHaveLength(5);
});

test("what fits is shown in full, and nothing is said of a cut", () => {
  expect(planMarkdown(many(3, "short"), view)).not.toContain("shown here");
});

test("verdict, counts and what is dangerous stand before everything else", () => {
  const risky = Array.from({ length: 40 }, (_, at) => sampleStep(`service/ws/r${at}`, { risks: ["exposure"] }));
  const text = planMarkdown(samplePlan([...many(200, "a").steps, ...risky]), view);
  const first = text.split("\n").slice(0, 24).join("\n");
  expect(first).toContain("### Holdfast: 240 to update");
  expect(first).toContain("**Dangerous: 40**");
  expect(first).toContain("and 30 more");
  expect(text.indexOf("<details>")).toBeGreaterThan(text.indexOf("and 30 more"));
});
