import jsonPatch from "fast-json-patch";
import type { Access, NotWritable } from "../../src/contract/generated/output.ts";
import { canonical, type Json, type JsonObject } from "../../src/contract/json.ts";
import { NOT_VISIBLE } from "../../src/core/diagnostic.ts";
import { contentOf } from "../../src/core/diff/compared-content.ts";
import { splitIdentity } from "../../src/core/manifest.ts";
import type { Plan, Step } from "../../src/core/plan/plan.ts";
import type { Outcome } from "../../src/core/report/report.ts";
import { kindOf } from "../../src/kinds/index.ts";
import { MASK } from "../../src/model/credential.ts";
import type { Ended } from "../support/process.ts";
import { bareIdentity, type Declared, dependenciesOf, identityOf, type Situation } from "./situation.ts";

/** What is live of resources, by identity; null where a resource is absent, left out where nobody can look. */
export type LiveManifests = { readonly [identity: string]: JsonObject | null };

/** How a situation ended, and what of it did not go as the plan said. */
export type Tried = {
  readonly end: "invalid" | "planned" | "refused" | "applied";
  readonly faults: readonly string[];
  /** What became of each step that apply came to. */
  readonly results: readonly Outcome["result"][];
};

/** A plan with what its JSON says of the token. */
export type ShownPlan = Plan & { readonly access?: Access; readonly notWritable?: readonly NotWritable[] };

/** A plan, what happened after it, and what apply then reported and did. */
export type Judging = {
  readonly situation: Situation;
  /** The manifests that were declared when the plan was made. */
  readonly declared: Declared;
  readonly plan: ShownPlan;
  /** The resource that was written after the plan was made, in live or in the source; equal where that changed nothing of its content. */
  readonly moved: { readonly is: "live" | "source"; readonly identity: string; readonly isEqual: boolean } | null;
  readonly applied: Ended;
  /** The resources that the audit log of the control plane names for the apply. */
  readonly wrote: readonly string[];
  readonly before: LiveManifests;
  readonly after: LiveManifests;
  /** Makes the plan after the apply. */
  readonly again: () => Promise<Ended>;
};

const results: { readonly [action in Step["action"]]: readonly Outcome["result"][] } = {
  create: ["created"],
  update: ["updated"],
  keep: ["unchanged"],
  block: ["blocked"],
  ensure: ["updated", "created", "unchanged"],
  orphan: [],
};

/** Holds what apply did against the plan, step by step. */
export async function judgeSituation(judging: Judging): Promise<Tried> {
  const { situation, plan, applied, wrote } = judging;
  const guarded = situation.isAllowed
    ? []
    : plan.steps.flatMap(({ risks }) => risks.filter((risk) => risk === "adopts" || risk === "privilege-growth"));
  const refused = refusalFaults(judging, guarded.length > 0);
  if (refused !== null) {
    const written = wrote.length === 0 ? [] : [`apply was refused, and wrote ${wrote.join(", ")}`];
    return { end: "refused", faults: [...refused, ...written], results: [] };
  }
  const failed = (fault: string): Tried => ({ end: "applied", faults: [fault], results: [] });
  if (guarded.length > 0) return failed(`apply did not refuse ${guarded.join(", ")}: ${applied.code}`);
  if (![0, 1, 3, 4, 7].includes(applied.code ?? -1))
    return failed(`apply ended with ${applied.code}: ${applied.stderr}`);
  const { outcomes }: { readonly outcomes?: readonly Outcome[] } = JSON.parse(applied.stdout);
  if (outcomes === undefined) return failed(`apply ended with ${applied.code}: ${applied.stderr}${applied.stdout}`);
  const fresh = await judging.again();
  return {
    end: "applied",
    results: outcomes.map(({ result }) => result),
    faults: [
      ...movedFaults(judging, outcomes),
      ...stepFaults(judging, outcomes),
      ...writeFaults(judging, outcomes),
      ...plan.steps.flatMap((step) => contentFaults(step, judging)),
      ...invalidFaults(judging, outcomes),
      ...nextFaults(fresh, situation, outcomes),
    ],
  };
}

// Null where the apply was not refused. What is refused as stale has to name what moved.
function refusalFaults({ moved, applied, situation, plan }: Judging, isGuarded: boolean): readonly string[] | null {
  const said = applied.stderr + applied.stdout;
  switch (applied.code) {
    case 3:
      // With --partial, that no manifest is valid.
      if (situation.broken !== null && plan.steps.every(({ action }) => action === "orphan")) return null;
      return moved?.is === "source" ? [] : [`apply ended with 3 for no reason: ${said}`];
    case 5:
      return isGuarded ? [] : [`apply ended with 5 for no reason: ${said}`];
    case 6:
      if (!situation.isSigned || moved === null) return [`apply ended with 6 for no reason: ${said}`];
      return said.includes(`${moved.is}: ${moved.identity}`)
        ? []
        : [`apply does not name ${moved.is} ${moved.identity}: ${said}`];
    default:
      return null;
  }
}

// A change that the token can see must stop a signed plan. What cannot be read may have moved unseen, and so may what the
// token may not write: a role on a cluster alone does not show the workspaces in it.
function movedFaults({ moved, plan, situation }: Judging, outcomes: readonly Outcome[]): readonly string[] {
  if (moved === null || moved.isEqual || !situation.isSigned) return [];
  const step = plan.steps.find(({ identity }) => bareIdentity(identity) === moved.identity);
  const isForbidden = outcomes.some(({ identity, error }) => identity === step?.identity && error?.status === 403);
  const isUnseen =
    step === undefined || step.action === "ensure" || step.action === "block" || step.reason !== null || isForbidden;
  return moved.is === "live" && isUnseen
    ? []
    : [`a signed plan was applied though ${moved.is} ${moved.identity} moved`];
}

function stepFaults({ plan, declared, situation }: Judging, outcomes: readonly Outcome[]): readonly string[] {
  const byIdentity = new Map(outcomes.map((outcome) => [outcome.identity, outcome]));
  const planned = new Set(plan.steps.map(({ identity }) => identity));
  const unplanned = outcomes.filter(({ identity, result }) => !planned.has(identity) && result !== "invalid");
  const isUndone = (identity: string): boolean => {
    const result = byIdentity.get(identity)?.result;
    return result === "failed" || result === "blocked";
  };
  const { access, notWritable = [] } = plan;
  const unwritable = new Set(notWritable.flatMap(({ identities }) => identities));
  const isPredicted = (identity: string): boolean =>
    access === undefined ? situation.caller === "tenant-viewer" : unwritable.has(identity);
  const manifests = new Map(Object.values(declared).map((manifest) => [identityOf(manifest), manifest]));
  const waitsFor = (identity: string): boolean => {
    const manifest = manifests.get(identity);
    return manifest !== undefined && dependenciesOf(manifest).some(isUndone);
  };
  return [
    ...unplanned.map((outcome) => `not in the plan: ${JSON.stringify(outcome)}`),
    ...plan.steps.flatMap((step) => {
      const outcome = byIdentity.get(step.identity);
      if (step.action === "orphan") return outcome === undefined ? [] : [`an orphan has an outcome: ${step.identity}`];
      if (outcome === undefined) return [`${step.identity}: no outcome`];
      if (unwritable.has(step.identity) && (outcome.result === "created" || outcome.result === "updated"))
        return [`${step.identity}: written, though the plan says that the token may not`];
      if (isAsPlanned(step, outcome) || isUncheckedFailure(step, outcome)) return [];
      // A plan says which of its steps the token may not write, where the control plane tells the token's roles.
      if (outcome.error?.status === 403 && isPredicted(step.identity)) return [];
      if (outcome.result === "blocked" && outcome.error?.code === "dependency" && waitsFor(step.identity)) return [];
      const { action, reason, notChecked } = step;
      return [`${step.identity}: ${JSON.stringify({ plan: { action, reason, notChecked }, outcome })}`];
    }),
  ];
}

function isAsPlanned({ action, reason }: Step, { result, error }: Outcome): boolean {
  return results[action].includes(result) && (action !== "block" || error?.code === reason);
}

// What a plan says it did not check may be refused; for the reason that was not checked.
function isUncheckedFailure({ action, notChecked }: Step, { result, error }: Outcome): boolean {
  if (notChecked === undefined || result !== "failed") return false;
  if (action === "ensure" && isTokenLost(error)) return true;
  if (notChecked.reason === "needs-write") return error?.status === 403;
  return error?.status === 403 || error?.status === 422;
}

// Nobody knows of an account that cannot be read whether somebody else made it in the same second, and has its token.
function isTokenLost(error: Outcome["error"]): boolean {
  return error?.code === "token-lost";
}

function writeFaults({ plan, wrote }: Judging, outcomes: readonly Outcome[]): readonly string[] {
  const made = outcomes.filter(({ result }) => result === "created" || result === "updated");
  // Where live cannot be read, a write of what is there already has no effect; without a dry run nobody knows whether
  // somebody else made it in the same second.
  const ensured = new Map(
    plan.steps.flatMap(({ action, identity, notChecked }) =>
      action === "ensure" ? [[identity, notChecked === undefined ? "checked" : "unchecked"] as const] : [],
    ),
  );
  const lost = outcomes.filter(({ error }) => isTokenLost(error));
  const isTold = new Set([...made, ...lost].map(({ identity }) => bareIdentity(identity)));
  return [
    ...wrote.filter((one) => !isTold.has(one)).map((one) => `${one} was written and not reported`),
    ...made
      .filter(({ identity, result }) => {
        const isWithout = ensured.has(identity) && (result === "updated" || ensured.get(identity) === "unchecked");
        return !wrote.includes(bareIdentity(identity)) && !isWithout;
      })
      .map(({ identity, result }) => `${identity} was reported as ${result} and not written`),
    ...wrote.filter((one, nth) => wrote.indexOf(one) !== nth).map((one) => `${one} was written twice`),
  ];
}

// The plan's patch makes of what was live exactly what is live now; what no write was sent for is as it was.
function contentFaults({ action, identity, patch }: Step, { before, after, wrote }: Judging): readonly string[] {
  const [was, is] = [before[bareIdentity(identity)], after[bareIdentity(identity)]];
  if (was === undefined || is === undefined) return [];
  if (!wrote.includes(bareIdentity(identity))) {
    return canonical(was) === canonical(is) ? [] : [`${identity} changed, and nobody wrote it`];
  }
  if (action === "create" && was !== null) return [`${identity} was there, and the plan was to create it`];
  if (action !== "update" || was === null || is === null || JSON.stringify(patch).includes(MASK)) return [];
  const wanted = jsonPatch.applyPatch(structuredClone(was), structuredClone(patch) as never).newDocument;
  return canonical(normal(identity, wanted)) === canonical(normal(identity, is))
    ? []
    : [`${identity}: the patch ${JSON.stringify(patch)} made ${canonical(is)} of ${canonical(was)}`];
}

function normal(identity: string, manifest: JsonObject): Json {
  const { kind: type } = splitIdentity(identity);
  const kind = kindOf(type);
  return (kind && contentOf(kind, manifest)) ?? null;
}

/** Whether a plan is incomplete only since its token sees a part of what is declared. */
export function isPartlyVisible({ code, stdout }: Ended): boolean {
  if (code !== 1) return false;
  const { complete, diagnostics = [] }: Partial<Plan> = JSON.parse(stdout);
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  return complete === false && errors.length > 0 && errors.every(({ code: what }) => what === NOT_VISIBLE);
}

// A broken manifest is left out, is named as such, and is never taken for a success.
function invalidFaults({ situation, declared, plan, applied, wrote }: Judging, outcomes: readonly Outcome[]) {
  const { broken } = situation;
  const invalid = outcomes.filter(({ result }) => result === "invalid");
  const manifest = broken === null ? undefined : declared[broken];
  if (manifest === undefined) return invalid.map(({ identity }) => `${identity} is said to be invalid`);
  const identity = identityOf(manifest);
  return [
    ...(invalid.some((one) => one.identity === identity && one.file === broken) ? [] : [`${identity} is not named`]),
    ...(plan.summary.invalid === invalid.length ? [] : [`the plan counts ${plan.summary.invalid} as invalid`]),
    ...(applied.code === 0 ? ["apply left out a manifest, and ended with 0"] : []),
    ...(wrote.includes(bareIdentity(identity)) ? [`${identity} is invalid, and was written`] : []),
  ];
}

function nextFaults(next: Ended, { broken }: Situation, outcomes: readonly Outcome[]): readonly string[] {
  const isExpected = broken === null ? next.code === 0 || isPartlyVisible(next) : next.code === 1;
  if (!isExpected) return [`the next plan ended with ${next.code}: ${next.stderr}`];
  const { steps }: Plan = JSON.parse(next.stdout);
  const byIdentity = new Map(outcomes.map((outcome) => [outcome.identity, outcome.result]));
  return steps.flatMap(({ action, identity, changes, reason }) => {
    const result = byIdentity.get(identity);
    const isLeft = result === "created" || result === "updated" || result === "unchanged";
    if (!isLeft || action === "keep" || action === "orphan") return [];
    const paths = changes.map(({ path }) => path).join(" ");
    return [`${identity} was ${result}, and the next plan has ${action} ${reason ?? ""} ${paths}`];
  });
}
