// src/engine/guard: the phase that refuses what needs consent. See docs/plan.md#what-is-dangerous.

import type { Stop } from "../../clock/clock.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { GuardRefusal } from "../../core/report/events.ts";
import { locateFields, type ManifestField } from "../../manifests/read-manifests.ts";

/** Why guards refuse a plan, with the fields that its other messages are about. */
export type UnlocatedRefusal = GuardRefusal & {
  readonly fields: readonly (ManifestField & { readonly diagnostic: Diagnostic })[];
};

/** The same refusal, with each message at the line of its field. */
export async function locateRefusal({ fields, ...refusal }: UnlocatedRefusal, { signal }: Stop): Promise<GuardRefusal> {
  const located = await locateFields(fields, { signal });
  const steps = located.map(({ diagnostic, position }): Diagnostic => ({ ...diagnostic, ...position }));
  return { ...refusal, diagnostics: [...steps, ...refusal.diagnostics] };
}

/** The error of an apply that guards refuse. */
export function refusedByGuards({ message, diagnostics }: GuardRefusal, isVerified: boolean): HoldfastError {
  const hint = isVerified
    ? "nothing was written: review the steps; each names what allows it"
    : "nothing was written: another key has signed the plan, so apply needs its flags too; or give both the same HOLDFAST_STATE_KEY";
  return new HoldfastError("refused", message, { hint, diagnostics });
}
