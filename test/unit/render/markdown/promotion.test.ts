import { describe, expect, test } from "vitest";
import type { Change } from "../../../../src/core/plan/plan.ts";
import { promotionMarkdown, promotionTitle } from "../../../../src/render/markdown/promotion.ts";
import { CANARY, requireInert } from "../../../support/require-inert.ts";
import { sampleChange, samplePlan, sampleStep } from "../../../support/sample-plan.ts";

const hostile = {
  "a link": `[${CANARY}](javascript:alert(1))`,
  "an image": `![${CANARY}](https://evil.example.com/x.png)`,
  "a tag": `</td></table><script>${CANARY}</script><img src=x onerror=alert(1)>`,
  "a comment that is ours": `<!-- holdfast name=x revision=0000000 --> ${CANARY}`,
  ticks: `\`\`\` ${CANARY} \`\` \` <b>x</b>`,
  "a mention and a command": `${CANARY} @team/admins closes #1\n/merge\n/close`,
  cells: `a | ${CANARY} | b \\| c`,
  lines: `x\n\n# ${CANARY}\r\n| a | b |\u2028- c`,
  controls: `\u001b[31m${CANARY}\u0000\u202e\u0007\u200b`,
  "an autolink": `www.evil.example.com/${CANARY} <https://evil.example.com>`,
};

const change = (text: string): Change => sampleChange(text, text, { [text]: text });

describe.each(Object.entries(hostile))("the pull request of a promotion with %s in every text", (_, text) => {
  const promoted = [
    {
      identity: text,
      from: `${text}.`,
      kind: "service",
      file: text,
      changes: [change(text)],
      since: text,
      authors: [{ commit: "a".repeat(40), author: `${text} <ada@example.com>`, at: "2026-11-28T12:00:00Z" }],
    },
  ];
  const refused = [{ identity: text, kind: "service", why: "gate" as const, detail: `blocked by its gate: ${text}` }];

  test("shows all of it as code: no markup, mention, link or command", () => {
    const plan = samplePlan([sampleStep(`service/c:w/${text}`, { changes: [change(text)] })]);
    const body = promotionMarkdown({
      from: text,
      to: text,
      promoted,
      refused,
      plans: { promotion: plan, revert: plan },
    });
    expect(body).toContain(CANARY);
    requireInert(body);
    // The head of the table and its row stay one line each.
    const rows = body.split("\n").filter((line) => line.startsWith("| ") && line.includes(CANARY));
    expect(rows).toHaveLength(2);
  });

  test("has a title of one line without controls", () => {
    const title = promotionTitle({ from: "staging", to: "prod", promoted });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
    expect(title).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e]/);
    expect(title.length).toBeLessThanOrEqual(200);
  });
});

test("the text of a very large promotion has room in a pull request of both forges, and says what it leaves out", () => {
  const long = "x".repeat(1_000);
  const nth = Array.from({ length: 300 }, (_, at) => `service/c:w/${at}-${long}`);
  const authors = Array.from({ length: 50 }, () => ({ commit: "a".repeat(40), author: long, at: "2026-11-28" }));
  const promoted = nth.map((identity) => {
    return { identity, from: identity, kind: "service", file: long, changes: [change(long)], since: long, authors };
  });
  const plan = samplePlan(nth.map((identity) => sampleStep(identity, { changes: [change(long)] })));
  const refused = nth.map((identity) => ({ identity, kind: "service", why: "gate" as const, detail: long }));
  const body = promotionMarkdown({ from: long, to: long, promoted, refused, plans: { promotion: plan, revert: plan } });
  expect(body.length).toBeLessThan(65_000);
  expect(body).toMatch(/\nAnd 2\d\d more fields\. `holdfast promote --dry-run -o json` has all of them\.\n/);
  expect(body).toMatch(/\n- and 2\d\d more\. /);
  expect(body.match(/\*\*\d+ of 300 resources are shown here\.\*\*/g)).toHaveLength(2);
  expect(body).toContain("`, 47 more |\n");
  expect(body).toContain("## Plan of its revert");
});
