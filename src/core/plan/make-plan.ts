import type { GateStepAnswer, NotChecked, StepGuard } from "../../contract/generated/output.ts";
import type { Json } from "../../contract/json.ts";
import { decideEach } from "../decide/decide-each.ts";
import type { Diagnostic } from "../diagnostic.ts";
import { FORMAT_VERSION } from "../format-version.ts";
import { requireKind } from "../kind.ts";
import { type Identity, requireRead } from "../manifest.ts";
import type { PolicyFindings } from "../policies/policy.ts";
import { redactManifest } from "../redact/redact-manifest.ts";
import { withWarnings } from "../run-warning.ts";
import { type BlockedStep, blockDiagnostics } from "./blocked-steps.ts";
import { notVisible } from "./not-visible.ts";
import { unclearOrphans } from "./orphans.ts";
import { type Change, type Plan, type Step, summarise, writes } from "./plan.ts";
import type { PlanInput, PlanWithDecisions } from "./plan-input.ts";
import { orphanSteps, stepOf } from "./plan-steps.ts";
import { jsonDigest, liveStamp } from "./sign-plan.ts";

/** Decides on every manifest, in order, and makes a plan with a checksum over its actions. */
export function makePlan(input: PlanInput): PlanWithDecisions {
  const decisions = decideEach(input);
  const declared = input.desired.map((waved) => stepOf(input, waved, decisions.get(waved.manifest.identity)));
  const orphans = input.orphans === "none" ? [] : orphanSteps(input);
  const unclear = input.orphans === "none" ? [] : unclearOrphans(input);
  const steps = input.orphans === "listed" ? declared.concat(orphans) : declared;
  const hidden = notVisible(input, decisions);
  const drifted = decisions.values().reduce((sum, one) => sum + (one.drifted ? 1 : 0), 0);
  const plan = {
    format_version: FORMAT_VERSION,
    revision: input.revision,
    server: input.server,
    complete: input.complete && hidden === null,
    summary: {
      ...summarise(steps, drifted, input.outOfScope),
      orphan: orphans.length,
      invalid: input.refused.length,
      ...(hidden === null ? {} : { notVisible: hidden.count }),
    },
    steps,
    diagnostics: [...input.diagnostics, ...unclear, ...(hidden === null ? [] : [hidden.diagnostic])],
  } as const;
  return { plan: withChecksum(plan, () => checksum(input, steps)), decisions };
}

// Computed on first access: it takes longer than the rest of the plan, and an apply without a plan file never reads it.
function withChecksum(plan: Omit<Plan, "checksum">, sum: () => string): Plan {
  let known: string | null = null;
  return {
    ...plan,
    get checksum() {
      known ??= sum();
      return known;
    },
  };
}

// The fields are listed one by one: a spread of the whole plan would compute its checksum.
function withParts(plan: Plan, parts: Partial<Plan>): Plan {
  const { format_version, revision, server, complete, summary, steps, diagnostics, policies } = plan;
  const own = { format_version, revision, server, complete, summary, steps, diagnostics };
  const same = { ...own, ...(policies === undefined ? {} : { policies }), ...parts };
  return withChecksum(same, () => plan.checksum);
}

/** The same plan, incomplete if manifests are left out. */
export function incompleteIfInvalid(plan: Plan): Plan {
  return plan.summary.invalid === 0 ? plan : withParts(plan, { complete: false });
}

/** The same plan, with the reason why each write without a dry run was not checked. */
export function withNotChecked(
  { plan, decisions }: PlanWithDecisions,
  notChecked: ReadonlyMap<Identity, NotChecked>,
): PlanWithDecisions {
  const steps = plan.steps.map((step) => {
    const why = writes(step) ? notChecked.get(step.identity) : undefined;
    return why === undefined ? step : { ...step, notChecked: why };
  });
  const count = steps.filter((step) => step.notChecked !== undefined).length;
  if (count === 0) return { plan, decisions };
  return { plan: withParts(plan, { steps, summary: { ...plan.summary, notChecked: count } }), decisions };
}

/** The same plan, with what gates say of its steps. */
export function withGateAnswers(
  { plan, decisions }: PlanWithDecisions,
  answers: ReadonlyMap<Identity, readonly GateStepAnswer[]>,
): PlanWithDecisions {
  if (answers.size === 0) return { plan, decisions };
  const steps = plan.steps.map((step) => {
    const gates = answers.get(step.identity);
    return gates === undefined ? step : { ...step, gates };
  });
  return { plan: withParts(plan, { steps }), decisions };
}

/** The same plan, with what policies find in it. */
export function withPolicyFindings(
  { plan, decisions }: PlanWithDecisions,
  { steps: found, plan: ofPlan }: PolicyFindings,
): PlanWithDecisions {
  if (found.size + ofPlan.length === 0) return { plan, decisions };
  const steps = plan.steps.map((step) => {
    const policies = found.get(step.identity);
    return policies === undefined ? step : { ...step, policies };
  });
  return { plan: withParts(plan, { steps, ...(ofPlan.length === 0 ? {} : { policies: ofPlan }) }), decisions };
}

/** The same plan, with the places where the values of its changes stand. */
export function withChangePlaces(
  plan: Plan,
  places: ReadonlyMap<Change, { readonly file: string; readonly line: number }>,
): Plan {
  if (places.size === 0) return plan;
  const steps = plan.steps.map((step) => {
    if (!step.changes.some((change) => places.has(change))) return step;
    const changes = step.changes.map((change) => {
      const place = places.get(change);
      return place === undefined ? change : { ...change, file: place.file, line: place.line };
    });
    return { ...step, changes };
  });
  return withParts(plan, { steps });
}

/** The same plan, with the guards that refuse its steps to an apply without a person; `refused` counts what they refuse. */
export function withGuards(plan: Plan, guards: ReadonlyMap<Identity, StepGuard>, refused: number): Plan {
  if (refused === 0) return plan;
  const steps = plan.steps.map((step) => {
    const guard = guards.get(step.identity);
    return guard === undefined ? step : { ...step, guard };
  });
  return withParts(plan, { steps, summary: { ...plan.summary, refused } });
}

/** The same plan, with a warning for each cause that blocks steps. */
export function withBlockDiagnostics(
  { plan, decisions }: PlanWithDecisions,
  blocked: readonly BlockedStep[],
): PlanWithDecisions {
  if (blocked.length === 0) return { plan, decisions };
  return { plan: withParts(plan, { diagnostics: [...plan.diagnostics, ...blockDiagnostics(blocked)] }), decisions };
}

/** The same plan, with the warnings about its run. */
export function withRunWarnings(plan: Plan, warnings: readonly Diagnostic[]): Plan {
  const diagnostics = withWarnings(plan.diagnostics, warnings);
  return diagnostics.length === plan.diagnostics.length ? plan : withParts(plan, { diagnostics });
}

// Only what is done counts. Left out are the position, the cause (it depends on the base), the risks (they depend on the
// records of this state folder) and what gates say (a gate that closes changes the action).
function checksummedStep({
  risks: _,
  causedBy: __,
  notChecked: ___,
  gates: ____,
  policies: _____,
  ...step
}: Step): Json {
  return { ...step, file: null, line: null, changes: step.changes.map((change) => ({ ...change, cause: null })) };
}

// Masked values are not in the checksum; the revision and live stamps represent them, so that a secret cannot be
// guessed from a published plan.
function checksum({ server, revision, live, desired, kinds }: PlanInput, steps: readonly Step[]): string {
  const acting = steps.filter(({ action }) => action !== "keep");
  const isActing = new Set(acting.map(({ identity }) => identity));
  const manifests = new Map(
    desired.flatMap(({ manifest: one }) =>
      isActing.has(one.identity) ? [[one.identity, requireRead(one).value]] : [],
    ),
  );
  const stamps = acting.map(({ identity, kind }): Json => {
    const stamp = liveStamp(live.get(identity));
    const manifest = manifests.get(identity);
    return [identity, stamp, manifest === undefined ? null : redactManifest(requireKind(kinds, kind).shape, manifest)];
  });
  return jsonDigest({ server, revision, stamps, steps: acting.map(checksummedStep) });
}
