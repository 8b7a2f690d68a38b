import type { Diagnostic } from "../diagnostic.ts";
import type { Step } from "../plan/plan.ts";
import type { GuardRefusal, PlanEvent } from "../report/events.ts";

/** Why a plan is not signed: guards refuse it, or a step is blocked only for want of a token sink. Null if it may be signed. */
export function signingRefusal({ plan, refusal }: Pick<PlanEvent, "plan" | "refusal">): GuardRefusal | null {
  const sinkless = plan.steps.filter(({ action, reason }) => action === "block" && reason === "token-sink");
  if (sinkless.length === 0) return refusal;
  const { message, flags = [], needsPerson = false, diagnostics = [], ...rest } = refusal ?? {};
  const count = sinkless.length === 1 ? "one step needs" : `${sinkless.length} steps need`;
  return {
    ...rest,
    message: message === undefined ? `${count} a token sink` : `${message}, and ${count} a token sink`,
    flags: [...flags, "--sink", "file"],
    needsPerson,
    diagnostics: [...diagnostics, ...sinkless.map(sinkMissing)],
  };
}

function sinkMissing({ identity, file, line }: Step): Diagnostic {
  const summary = `${identity} answers a one-time token, and no sink is chosen`;
  const place = { file, line, column: line === null ? null : 1 };
  return { severity: "error", code: "token-sink", summary, detail: null, ...place };
}
