import { rolloutState } from "../../contract/rollout-state.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { Identity } from "../../core/manifest.ts";
import { reasonText, type Step, summarise } from "../../core/plan/plan.ts";
import { policyConsent } from "../../core/policies/policy.ts";
import type { PassResult } from "../../core/report/events.ts";
import { kindOf } from "../../kinds/index.ts";
import type { Recovered } from "../apply/recover.ts";
import type { Pass } from "../pass.ts";
import type { LivePlan } from "../plan.ts";
import { requireNamedPolicies } from "../policies/load-policies.ts";
import { type ApplyMode, applyPass } from "./apply-pass.ts";

/** A pass that deploys live resources again with the same content, as new versions. */
export type RedeployMode = Pick<ApplyMode, "leader" | "isForced"> & {
  readonly is: "redeploy";
  readonly identities: readonly Identity[];
  /** Whether to deploy a resource again although its rollout has not failed. */
  readonly force: boolean;
  /** Policies with the severity `confirm` that are allowed. @default none */
  readonly allowedPolicies?: readonly string[];
};

type Redeploying = Pick<RedeployMode, "identities" | "force"> & {
  readonly held: ReadonlyMap<Identity, string>;
  readonly recovered: readonly Recovered[];
};

/** Deploys resources with failed rollouts again, with the same journal as every write. */
export async function redeployPass(
  pass: Pass,
  { identities, force, allowedPolicies = [], ...mode }: RedeployMode,
): Promise<PassResult> {
  const held = await pass.holds.held();
  const { rules, policies: set } = pass.read;
  requireNamedPolicies(allowedPolicies, set);
  // What is live has the risks that it has; policies judge what is written.
  const consents = [...rules.allowedPolicies, ...allowedPolicies].map((name) => policyConsent(name, set.policies));
  const allows = [...rules.refusedRisks, ...consents];
  return applyPass(pass, {
    ...mode,
    is: "apply",
    approve: async () => ({ is: "agreed", allows }),
    signed: null,
    revise: (planned, recovered) => redeployPlan(planned, { identities, force, held, recovered }),
  });
}

/** The plan that updates each of these resources with its current content. */
function redeployPlan(planned: LivePlan, redeploying: Redeploying): LivePlan {
  const steps = new Map(planned.plan.steps.map((step) => [step.identity, step]));
  const checked = redeploying.identities.map((identity) =>
    checkStep(identity, steps.get(identity), planned, redeploying),
  );
  const refused = checked.filter((one) => one.is === "refused");
  if (refused.length > 0) throw refusal(refused);
  const updates = checked.flatMap((one) => (one.is === "allowed" ? [one.step] : []));
  const decisions = updates.flatMap(({ identity }) => {
    const decision = planned.decisions.get(identity);
    return decision === undefined ? [] : [[identity, { ...decision, action: "update" as const }] as const];
  });
  const plan = { ...planned.plan, steps: updates, summary: summarise(updates, 0) };
  return { ...planned, plan, decisions: new Map([...planned.decisions, ...decisions]) };
}

/** Whether a resource may be deployed again; `done` where an interrupted run has already deployed it. */
type Checked = { readonly is: "allowed"; readonly step: Step } | { readonly is: "done" } | Refused;

type Refused = {
  readonly is: "refused";
  readonly identity: Identity;
  readonly step: Step | undefined;
  readonly code: "invalid" | "refused";
  readonly why: string;
};

function checkStep(
  identity: Identity,
  step: Step | undefined,
  { observation }: LivePlan,
  { force, held, recovered }: Redeploying,
): Checked {
  const refuse = (code: Refused["code"], why: string): Refused => ({ is: "refused", identity, step, code, why });
  if (step === undefined || step.action === "orphan") return refuse("invalid", "is not declared in the source");
  if (!kindOf(step.kind)?.rollsOut) return refuse("invalid", "is not deployed: its kind has no rollouts");
  const hold = held.get(identity);
  if (hold !== undefined) return refuse("refused", `is held, ${hold}`);
  if (step.action === "create") return refuse("refused", "is not live yet: holdfast apply deploys it");
  if (step.action === "update") return refuse("refused", "differs from its manifest: holdfast apply deploys that");
  const live = observation.live.get(identity);
  if (step.action !== "keep" || live?.state !== "present")
    return refuse(
      "refused",
      `cannot be deployed: ${step.reason === null ? "live cannot be read" : reasonText[step.reason]}`,
    );
  const rollout = rolloutState(live.row.status);
  // The deployment of an interrupted run is the requested one.
  const isApplied = recovered.some(({ intent, effect }) => intent.identity === identity && effect === "applied");
  if (rollout !== "failed" && isApplied) return { is: "done" };
  if (rollout === "succeeded" && !force) return refuse("refused", "is healthy: --force deploys it anyway");
  if (rollout === "progressing" && !force)
    return refuse("refused", "is being rolled out: wait for the end, or deploy it after that with --force");
  return { is: "allowed", step: { ...step, action: "update" } };
}

function refusal(refused: readonly Refused[]): HoldfastError {
  const worst = refused.some(({ code }) => code === "invalid") ? "invalid" : "refused";
  const [first] = refused;
  const message =
    refused.length === 1 && first !== undefined
      ? `${first.identity} ${first.why}`
      : `${refused.length} of these resources cannot be deployed again`;
  const diagnostics = refused.map(({ identity, step, code, why }): Diagnostic => {
    const { file = null, line = null } = step ?? {};
    return { severity: "error", code, summary: `${identity} ${why}`, detail: null, file, line, column: line && 1 };
  });
  return new HoldfastError(worst, message, {
    hint: "nothing was sent",
    diagnostics: refused.length === 1 ? [] : diagnostics,
  });
}
