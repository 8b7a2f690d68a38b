// src/engine/policies: reads policies, and judges plans by them. See docs/policies.md.

import type { Clock } from "../../clock/clock.ts";
import type { HardwareChange, PolicyFinding } from "../../contract/generated/output.ts";
import { isObject, type Json } from "../../contract/json.ts";
import type { Identity } from "../../core/manifest.ts";
import { type Plan, type Step, writes } from "../../core/plan/plan.ts";
import { findingOf, NO_FINDINGS, type PolicyFindings, strictestFindings } from "../../core/policies/policy.ts";
import { planVariables, type StepManifests, stepVariables } from "../../core/policies/policy-input.ts";
import { kindsByType } from "../../kinds/index.ts";
import { globMatcher } from "../../model/glob.ts";
import { once } from "../../model/once.ts";
import type { ExpressionAnswer } from "./expression.ts";
import { type ExpressionSubject, expressionSubject } from "./expression-subject.ts";
import type { LoadedPolicy, PolicySet } from "./policy-set.ts";

/** The time in which the policies of one plan are evaluated. */
const TIME_MS = 20_000;

/** A plan that policies judge, with the manifests of its steps. */
export type JudgedPlan = {
  readonly plan: Pick<Plan, "steps" | "summary">;
  readonly manifestsOf: (step: Step) => StepManifests | null;
  readonly hardware: HardwareChange | null;
};

/** What the policies of a target find in a plan: in each step that writes, and in the whole. */
export function judgePlan(
  { policies, target }: PolicySet,
  judged: JudgedPlan,
  clock: Pick<Clock, "monotonic">,
): PolicyFindings {
  const writing = judged.plan.steps.filter(writes);
  if (policies.length === 0 || writing.length === 0) return NO_FINDINGS;
  const subjects = subjectsOf(judged, writing, target);
  const until = clock.monotonic() + TIME_MS;
  const isOver = (): boolean => clock.monotonic() > until;
  const ofPlan: PolicyFinding[] = [];
  const ofSteps = new Map<Identity, PolicyFinding[]>();
  for (const policy of policies) {
    const found = policy.over === "plan" ? [] : findingsInSteps(policy, subjects.steps, isOver);
    for (const [identity, finding] of found) ofSteps.set(identity, [...(ofSteps.get(identity) ?? []), finding]);
    if (policy.over === "plan")
      ofPlan.push(...findingsIn(policy, [subjects.plan()], isOver).filter((one) => one !== null));
  }
  return {
    plan: strictestFindings(ofPlan),
    steps: new Map([...ofSteps].map(([identity, found]) => [identity, strictestFindings(found)])),
  };
}

type Subjects = {
  readonly plan: () => ExpressionSubject;
  readonly steps: ReadonlyMap<Identity, () => ExpressionSubject>;
};

// Each is made once, when the first policy that judges it is evaluated.
function subjectsOf({ plan, manifestsOf, hardware }: JudgedPlan, writing: readonly Step[], target: string): Subjects {
  const whole = once(() => planVariables(plan, { hardware, kinds: kindsByType, target }));
  // One step among ten thousand does not see the others.
  const shared = once(() => expressionSubject({ ...whole(), plan: withoutSteps(whole().plan) }));
  const steps = writing.flatMap((step) => {
    const manifests = manifestsOf(step);
    if (manifests === null) return [];
    const own = once(() => ({ ...expressionSubject(stepVariables(step, manifests, kindsByType)), ...shared() }));
    return [[step.identity, own] as const];
  });
  return { plan: once(() => expressionSubject(whole())), steps: new Map(steps) };
}

function withoutSteps(plan: Json | undefined): Json {
  const { steps: _, ...rest } = isObject(plan) ? plan : {};
  return rest;
}

function findingsInSteps(
  policy: LoadedPolicy,
  steps: Subjects["steps"],
  isOver: () => boolean,
): readonly (readonly [Identity, PolicyFinding])[] {
  const isJudged = policy.match === null ? () => true : globMatcher(policy.match);
  const judged = [...steps].filter(([identity]) => isJudged(identity));
  const found = findingsIn(
    policy,
    judged.map(([, subject]) => subject()),
    isOver,
  );
  return judged.flatMap(([identity], at) => {
    const finding = found[at] ?? null;
    return finding === null ? [] : [[identity, finding] as const];
  });
}

// One evaluation is bounded by its budget, and all of them by the time.
function findingsIn(
  policy: LoadedPolicy,
  subjects: readonly ExpressionSubject[],
  isOver: () => boolean,
): readonly (PolicyFinding | null)[] {
  return subjects.map((subject) => {
    const answer = isOver() ? LATE : policy.expression.evaluate(subject);
    if (answer.is === "error") return findingOf(policy, answer.error);
    return answer.finds ? findingOf(policy, null) : null;
  });
}

const LATE: ExpressionAnswer = {
  is: "error",
  error: { message: `the policies of this plan take more than ${TIME_MS / 1000} s`, offset: 0 },
};
