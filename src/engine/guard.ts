import type { Diagnostic } from "../core/diagnostic.ts";
import { HoldfastError } from "../core/errors.ts";
import { guardedSteps, guardMessages } from "../core/guards/guarded-steps.ts";
import type { Risk } from "../core/plan/plan.ts";
import type { GuardRefusal } from "../core/report/events.ts";
import { locateFields } from "../manifests/read-manifests.ts";
import type { LivePlan } from "./plan.ts";

/** Why guards refuse a plan to an apply without a person, each message at the line of its field; null where they do not. */
export async function guardRefusal(
  planned: LivePlan,
  refused: ReadonlySet<Risk>,
  { signal }: { readonly signal: AbortSignal },
): Promise<GuardRefusal | null> {
  const guarded = guardedSteps(planned, refused);
  if (guarded.length === 0) return null;
  const manifests = new Map(planned.waved.map(({ manifest }) => [manifest.identity, manifest]));
  const fields = guarded.flatMap(guardMessages).flatMap(({ step, ...message }) => {
    const manifest = manifests.get(step.identity);
    return manifest === undefined ? [] : [{ ...message, manifest }];
  });
  const located = await locateFields(fields, { signal });
  return {
    message: `guards refuse ${guarded.length === 1 ? "one step" : `${guarded.length} steps`} of this plan`,
    flags: [...new Set(guarded.flatMap(({ guard }) => guard.flags))],
    needsPerson: guarded.some(({ guard: { dangers, flags } }) => flags.length < riskCount(dangers)),
    diagnostics: located.map(({ diagnostic, position }): Diagnostic => ({ ...diagnostic, ...position })),
  };
}

/** The error of an apply that guards refuse. */
export function refusedByGuards({ message, diagnostics }: GuardRefusal, isVerified: boolean): HoldfastError {
  const hint = isVerified
    ? "nothing was written: review the steps; each names what allows it"
    : "nothing was written: another key has sealed the plan, so apply needs its flags too; or give both the same HOLDFAST_STATE_KEY";
  return new HoldfastError("refused", message, { hint, diagnostics });
}

function riskCount(dangers: readonly { readonly risk: Risk }[]): number {
  return new Set(dangers.map(({ risk }) => risk)).size;
}
