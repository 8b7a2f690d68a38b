import type { GateReceipt } from "../core/gates/content-gate.ts";

/** The answer of a gate in a word. */
export const verdictText: { readonly [verdict in GateReceipt["verdict"]]: string } = {
  pass: "passed",
  fail: "failed",
  unanswered: "no answer",
};
