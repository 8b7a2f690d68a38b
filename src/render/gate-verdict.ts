import type { GateStatus } from "../contract/generated/output.ts";
import { type GateVerdict, gateAnswerText } from "../core/gates/content-gate.ts";
import { joinCounts } from "./count-text.ts";

/** The answer of a gate in a word. */
export const verdictText: { readonly [verdict in GateVerdict]: string } = {
  pass: "passed",
  fail: "failed",
  unanswered: "no answer",
};

/** Answers of gates, those that are not green first. */
export function closedFirst<Answer extends { readonly verdict: GateVerdict }>(
  answers: readonly Answer[],
): readonly Answer[] {
  return answers.toSorted((a, b) => Number(a.verdict === "pass") - Number(b.verdict === "pass"));
}

/** How many answers of each sort the gates of a target gave last. */
export function gateCountsText({ passed, failed, unanswered }: GateStatus): string {
  const counts = joinCounts([
    [passed, verdictText.pass],
    [failed, verdictText.fail],
    [unanswered, verdictText.unanswered],
  ]);
  return counts === "" ? "none was asked" : counts;
}

/** The receipts of gates that are not green, one text each; not escaped. */
export function closedGateTexts({ closed }: GateStatus): readonly string[] {
  return closed.map(
    ({ identity, verdict, at, ...gate }) => `${identity}: ${verdictText[verdict]} at ${at}: ${gateAnswerText(gate)}`,
  );
}
