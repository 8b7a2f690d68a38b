import type { Stop } from "../clock/clock.ts";
import type { PolicyFinding } from "../contract/generated/output.ts";
import type { Diagnostic } from "../core/diagnostic.ts";
import { HoldfastError } from "../core/errors.ts";
import { notAdopted } from "../core/guards/adoption.ts";
import { type GuardedStep, guardedSteps, guardMessages, type RefusedByGuards } from "../core/guards/guarded-steps.ts";
import { SHRUNK_SOURCE } from "../core/guards/mass-change-guards.ts";
import { findingDiagnostic } from "../core/guards/policy-guard.ts";
import { withGuards, withRunWarnings } from "../core/plan/make-plan.ts";
import type { Plan } from "../core/plan/plan.ts";
import { refusingFindings } from "../core/policies/policy.ts";
import type { GuardRefusal } from "../core/report/events.ts";
import { locateFields, type ManifestField } from "../manifests/read-manifests.ts";
import type { ShrunkSource } from "./load/source-guards.ts";
import type { LivePlan } from "./plan.ts";

/** A plan that names the guards of its steps, and why they refuse it to an apply without a person; null where they do not. */
export type GuardedPlan = { readonly plan: Plan; readonly refusal: UnlocatedRefusal | null };

/** Says which guards refuse a plan: those of its steps, policies, and that of a source that has shrunk. */
export function guard(planned: LivePlan, refused: RefusedByGuards, shrunk: ShrunkSource | null): GuardedPlan {
  const guarded = guardedSteps(planned, refused);
  const whole = refusingFindings(planned.findings.plan, refused.isAllowed);
  const missing = shrunk?.missing ?? [];
  const guards = new Map([
    ...guarded.map(({ step, guard }) => [step.identity, guard] as const),
    ...missing.map((identity) => [identity, SHRUNK] as const),
  ]);
  const marked = withGuards(planned.plan, guards, guarded.length + missing.length);
  const adoption = [notAdopted(marked)].filter((one) => one !== null);
  const plan = withRunWarnings(marked, adoption);
  const refusal = refusalOf(guarded, whole, planned, adoption);
  if (shrunk === null) return { plan, refusal };
  return { plan: withRunWarnings(plan, [shrunkError(shrunk)]), refusal: withShrunk(refusal, shrunk) };
}

const SHRUNK = { flags: ["--allow-shrink"], dangers: [] };

function refusalOf(
  guarded: readonly GuardedStep[],
  whole: readonly PolicyFinding[],
  { waved }: LivePlan,
  diagnostics: readonly Diagnostic[],
): UnlocatedRefusal | null {
  if (guarded.length + whole.length === 0) return null;
  const manifests = new Map(waved.map(({ manifest }) => [manifest.identity, manifest]));
  const findings = [...whole, ...guarded.flatMap((one) => one.findings)];
  const isDenied = findings.some(({ severity }) => severity === "deny");
  return {
    message: refusalMessage(guarded, whole),
    flags: [...new Set(guarded.flatMap(({ guard }) => guard.flags))],
    needsPerson: guarded.some(({ needsPerson }) => needsPerson),
    ...(isDenied ? { isDenied } : {}),
    diagnostics: [...diagnostics, ...whole.map((one) => findingDiagnostic(one, null))],
    fields: guarded.flatMap(guardMessages).flatMap(({ step, ...message }) => {
      const manifest = manifests.get(step.identity);
      return manifest === undefined ? [] : [{ ...message, manifest }];
    }),
  };
}

function refusalMessage(guarded: readonly GuardedStep[], whole: readonly PolicyFinding[]): string {
  if (whole.length > 0) return "policies refuse this plan";
  const isOfPolicies = guarded.every(({ guard: { dangers } }) => dangers.length === 0);
  const number = guarded.length === 1 ? "one step" : `${guarded.length} steps`;
  return `${isOfPolicies ? "policies" : "guards"} refuse ${number} of this plan`;
}

function shrunkError({ error: { message, hint } }: ShrunkSource): Diagnostic {
  const place = { file: null, line: null, column: null };
  return {
    severity: "error",
    code: SHRUNK_SOURCE,
    summary: `apply refuses this: ${message}`,
    detail: hint,
    ...place,
  };
}

function withShrunk(refusal: UnlocatedRefusal | null, { error: { message } }: ShrunkSource): UnlocatedRefusal {
  const { flags = [], needsPerson = false, diagnostics = [], fields = [], ...rest } = refusal ?? {};
  return { ...rest, message, flags: [...SHRUNK.flags, ...flags], needsPerson, diagnostics, fields };
}

/** Why guards refuse a plan, with the fields that its other messages are about. */
type UnlocatedRefusal = GuardRefusal & {
  readonly fields: readonly (ManifestField & { readonly diagnostic: Diagnostic })[];
};

/** The same refusal, with each message at the line of its field. */
export async function locateRefusal({ fields, ...refusal }: UnlocatedRefusal, { signal }: Stop): Promise<GuardRefusal> {
  const located = await locateFields(fields, { signal });
  const steps = located.map(({ diagnostic, position }): Diagnostic => ({ ...diagnostic, ...position }));
  return { ...refusal, diagnostics: [...steps, ...refusal.diagnostics] };
}

/** How consent to a plan was given: by flags, or by a signed plan, which takes no flags beside its own under its own key. */
type Consent = {
  readonly by: "flags" | "own-key" | "other-key";
  /** The policies that have changed since a signed plan was made with consent to them. */
  readonly outdated: readonly string[];
};

/** The error of an apply that guards refuse. */
export function refusedByGuards(
  { message, diagnostics, isDenied, flags }: GuardRefusal,
  { by, outdated }: Consent = { by: "flags", outdated: [] },
): HoldfastError {
  const [first] = outdated;
  if (isDenied || first === undefined) {
    const hint = `nothing was written: ${isDenied ? DENIED : remedies[by](flags)}`;
    return new HoldfastError("refused", message, { hint, diagnostics });
  }
  const are = outdated.length === 1 ? `policy ${first} has` : `policies ${outdated.join(", ")} have`;
  const hint = `nothing was written: review what it asks now, and ${makeAgain(flags)}`;
  return new HoldfastError("refused", `${are} changed since the plan was made`, { hint, diagnostics });
}

const DENIED = "change what is declared, or the policy that denies it; no flag allows it";

const remedies: { readonly [by in Consent["by"]]: (flags: readonly string[]) => string } = {
  flags: () => "review the steps; each names what allows it",
  "own-key": (flags) => `review the steps; a signed plan takes the flags of plan alone: ${makeAgain(flags)}`,
  "other-key": () =>
    "another key has signed the plan, so apply needs its flags too; or give both the same HOLDFAST_STATE_KEY",
};

function makeAgain(flags: readonly string[]): string {
  return `make it again with plan ${[...flags, "--out FILE"].join(" ")}`;
}
