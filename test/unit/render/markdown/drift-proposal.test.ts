import { describe, expect, test } from "vitest";
import type { Change } from "../../../../src/core/plan/plan.ts";
import { driftProposalMarkdown, driftProposalTitle } from "../../../../src/render/markdown/drift-proposal.ts";
import { hostileShownTexts } from "../../../support/hostile-shown-texts.ts";
import { CANARY, requireInert } from "../../../support/require-inert.ts";
import { sampleChange } from "../../../support/sample-plan.ts";

const change = (text: string): Change => sampleChange(text, text, { [text]: text });

function proposalOf(text: string) {
  const changedBy = { subject: text, subjectId: text, at: text };
  return {
    proposed: [{ identity: text, kind: "service", file: text, changes: [change(text)], changedBy }],
    refused: [{ identity: text, kind: "service", why: "not-editable" as const, detail: text }],
  };
}

describe("the pull request of drift with what others wrote in every text", () => {
  const shown = (text: string): string => `${CANARY} ${text} ${CANARY}`;

  test("shows all of it as code: no markup, mention, link or command", () => {
    for (const text of hostileShownTexts.map(shown)) {
      const body = driftProposalMarkdown({ ...proposalOf(text), target: text, server: text, heldFor: "7d" });
      expect(body).toContain(CANARY);
      requireInert(body);
      expect(body.split("\n").filter((line) => line.startsWith("| ") && line.includes(CANARY))).toHaveLength(1);
    }
  });

  test("has a title of one line without controls", () => {
    for (const text of hostileShownTexts) {
      const title = driftProposalTitle({ target: "prod", ...proposalOf(text) });
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
      expect(title).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e]/);
      expect(title.length).toBeLessThanOrEqual(200);
    }
  });
});

test("who wrote it and when is unknown where the control plane does not tell", () => {
  const proposed = [{ identity: "service/c:w/a", kind: "service", file: "a.yaml", changes: [change("x")] }];
  const body = driftProposalMarkdown({ proposed, refused: [], target: "prod", server: "x", heldFor: null });
  expect(body).toContain(" | unknown | unknown |");
  expect(body).not.toContain("Holdfast does not write these resources");
});

test("the text of very much drift has room in a pull request of both forges, and says what it leaves out", () => {
  const long = "x".repeat(1_000);
  const nth = Array.from({ length: 300 }, (_, at) => `service/c:w/${at}-${long}`);
  const { proposed, refused } = {
    proposed: nth.flatMap((text) => proposalOf(text).proposed),
    refused: nth.flatMap((text) => proposalOf(text).refused),
  };
  const body = driftProposalMarkdown({ proposed, refused, target: long, server: long, heldFor: "7d" });
  expect(body.length).toBeLessThan(64_000);
  expect(body).toMatch(/And \d+ more fields\. `holdfast drift --propose --dry-run -o json`/);
  expect(body).toMatch(/- and \d+ more\. /);
});
