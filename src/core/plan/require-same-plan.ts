import { canonical, compareText, isObject, type Json, type JsonObject } from "../../contract/json.ts";
import type { Diagnostic } from "../diagnostic.ts";
import { HoldfastError } from "../errors.ts";
import { findForged } from "./forged-plan.ts";
import type { Plan, Step } from "./plan.ts";
import { bucketOf, digestsOf, keptDigests, liveStamp, type Signable, type Signer } from "./sign-plan.ts";
import { bareStep, edited, type SignedPlan, stale, stepJson } from "./signed-plan.ts";

/** The plan computed now, and its inputs for comparison with a signature. */
export type CurrentPlan = { readonly plan: Plan; readonly signable: Signable; readonly signer: Signer };

/** An input of a signed plan that has changed. */
type Moved = {
  readonly what: "source" | "live" | "source-or-live" | "configuration" | "plan";
  readonly identity: string | null;
  readonly text: string;
};

/**
 * Throws unless the current plan equals the signed plan or the rest of it. A step counts as done if live equals its
 * manifest and the manifest equals the signed one.
 */
export function requireSamePlan(signed: SignedPlan, current: CurrentPlan): void {
  if (signed.server !== current.plan.server) {
    throw new HoldfastError("stale", `the plan is for ${signed.server}, and this is ${current.plan.server}`, {
      hint: "pass the plan's server with --server, or make the plan again",
    });
  }
  const { signature } = signed;
  const isConfigured = signature.configuration !== current.signer.configuration;
  const isOwnKey = signature.key === current.signer.key;
  if (isOwnKey ? signature.signature !== current.signer.keyed(signature.content) : !isWhole(signed)) throw edited();
  requireKey(signed, current);
  const now = new Map(current.plan.steps.map((step) => [step.identity, step]));
  const done = [...signed.steps].filter(([identity, step]) =>
    isDone(identity, step, now.get(identity), signed, current),
  );
  const isLeft = new Set(done.map(([identity]) => identity));
  const isNew = ({ action, identity }: Step): boolean => action !== "keep" && !signed.steps.has(identity);
  const unplanned = current.plan.steps.filter(isNew);
  const isSourceMoved = unplanned.length === 0 ? () => null : findMovedSources(signed, current);
  // Orphans cause no action, and another ledger may know other ones.
  const fresh = unplanned.filter(({ action, identity }) => action !== "orphan" || isSourceMoved(identity) === true);
  const moved = [
    ...[...signed.steps]
      .filter(([identity]) => !isLeft.has(identity))
      .flatMap(([identity, step]) => movedStep(identity, step, now.get(identity), signed, current)),
    ...fresh.map((step) => newStep(step, isSourceMoved(step.identity), isConfigured)),
  ];
  const forged = moved.length > 0 || isOwnKey ? [] : findForged(signed, current.plan);
  const all = [...moved, ...forged.map((text): Moved => ({ what: "plan", identity: null, text }))];
  if (all.length === 0) return;
  throw refusal(isConfigured ? [...all, CONFIGURATION] : all, current);
}

// The signature covers exactly the plan's steps.
function isWhole({ signature, steps }: SignedPlan): boolean {
  const signedSteps = Object.keys(signature.live);
  return signedSteps.length === steps.size && signedSteps.every((identity) => steps.has(identity));
}

const CONFIGURATION: Moved = {
  what: "configuration",
  identity: null,
  text: "the configuration, or what was selected, is not what it was",
};

// The same commit has the same secrets; otherwise only the key can compare them.
function requireKey({ signature, revision }: SignedPlan, { plan, signer }: CurrentPlan): void {
  const isSameCommit = revision !== null && revision === plan.revision;
  if (isSameCommit || signature.key === signer.key || Object.keys(signature.secrets).length === 0) return;
  throw new HoldfastError("invalid", "the plan has secret values that were signed with another key", {
    hint: "give plan and apply the same HOLDFAST_STATE_KEY (or the same --state), or plan and apply the same commit",
  });
}

function isDone(
  identity: string,
  { action }: JsonObject,
  step: Step | undefined,
  signed: SignedPlan,
  current: CurrentPlan,
): boolean {
  // Under another configuration, a step may be missing because an ignore rule suppresses it.
  if (signed.signature.configuration !== current.signer.configuration) return false;
  const didWrite = action === "create" || action === "update" || action === "ensure";
  return didWrite && step?.action === "keep" && isSameSource(identity, signed, current);
}

function isSameSource(identity: string, { signature, revision }: SignedPlan, current: CurrentPlan): boolean {
  const manifest = current.signable.manifestOf(identity);
  if (manifest === undefined) return signature.source[identity] === undefined;
  const { open, keyed } = digestsOf(manifest, current.signable, current.signer);
  if (signature.source[identity] !== open) return false;
  const signedKeyed = signature.secrets[identity] ?? null;
  // Without secrets the open digest covers the whole manifest.
  if (keyed === null && signedKeyed === null) return true;
  if (signature.key !== current.signer.key) return revision !== null && revision === current.plan.revision;
  return signedKeyed === keyed;
}

function movedStep(
  identity: string,
  was: JsonObject,
  now: Step | undefined,
  signed: SignedPlan,
  current: CurrentPlan,
): readonly Moved[] {
  if (was.action === "orphan" && (now === undefined || now.action === "orphan")) return [];
  const stamp = liveStamp(current.signable.liveOf(identity));
  const isSameLive = (signed.signature.live[identity] ?? null) === stamp;
  const moved: Moved[] = [];
  if (!isSameSource(identity, signed, current)) {
    moved.push({ what: "source", identity, text: fieldsText(was, now, "after") ?? sourceText(identity, current) });
  }
  if (!isSameLive) moved.push({ what: "live", identity, text: liveText(identity, was, now, current) });
  if (moved.length > 0) return moved;
  if (now !== undefined && bareStep(was) === bareStep(stepJson(now))) return [];
  const action = now === undefined ? "nothing" : now.action;
  const fields = fieldsText(was, now, "before");
  if (fields !== null) return [{ what: "live", identity, text: fields }];
  return [{ what: "plan", identity, text: `the plan says ${String(was.action)}, and now it is ${action}` }];
}

function sourceText(identity: string, { signable }: CurrentPlan): string {
  return signable.manifestOf(identity) === undefined
    ? "the manifest is not declared any more"
    : "the manifest has changed";
}

function liveText(identity: string, was: JsonObject, now: Step | undefined, { signable }: CurrentPlan): string {
  const live = signable.liveOf(identity);
  if (live?.state !== "present") return live?.state === "absent" ? "it is gone" : "it cannot be read now";
  const { createdBy, author = createdBy, createdAt } = live.row;
  const who = author === undefined ? "" : ` by ${author}`;
  const when = createdAt === undefined ? "" : ` at ${createdAt}`;
  const by = who + when === "" ? "" : ` (changed${who}${when})`;
  const fields = now?.action === "keep" ? null : fieldsText(was, now, "before");
  return `${fields ?? (was.action === "create" ? "it exists now" : "it was written again")}${by}`;
}

// The fields whose value on that side differs between the plans, as far as both show it.
function fieldsText(was: JsonObject, now: Step | undefined, side: "before" | "after"): string | null {
  const before = sidesOf(Array.isArray(was.changes) ? was.changes : [], side);
  const after = sidesOf(now?.changes.map((change): Json => ({ ...change })) ?? [], side);
  // The one change of a create is the whole manifest.
  if (before.has("") || after.has("")) return null;
  const paths = [...new Set([...before.keys(), ...after.keys()])].toSorted(compareText);
  const texts = paths.flatMap((path) => {
    const [old, is] = [before.get(path), after.get(path)];
    if (old === is) return [];
    if (old === undefined || is === undefined)
      return [`${path} ${old === undefined ? "differs now" : "no longer differs"}`];
    return [`${path} was ${old}, and is ${is}`];
  });
  return texts.length === 0 ? null : texts.slice(0, MAX_FIELDS).join("; ");
}

const MAX_FIELDS = 5;

function sidesOf(changes: readonly Json[], side: "before" | "after"): ReadonlyMap<string, string> {
  return new Map(changes.filter(isObject).map((change) => [String(change.path), canonical(change[side] ?? null)]));
}

// Null when neither the documents nor the commit determine it.
function findMovedSources(
  { signature, steps, revision }: SignedPlan,
  { plan, signable, signer }: CurrentPlan,
): (identity: string) => boolean | null {
  const isSameCommit = revision !== null && revision === plan.revision;
  const { kept } = signature;
  if (isSameCommit || kept === undefined || signature.key !== signer.key) return () => (isSameCommit ? false : null);
  const now = keptDigests(signable, (identity) => steps.has(identity), signer);
  return (identity) => kept[bucketOf(identity)] !== now[bucketOf(identity)];
}

function newStep(step: Step, isOfSource: boolean | null, isConfigured: boolean): Moved {
  const { action, identity, causedBy, changes } = step;
  const isOurs = isOfSource ?? (causedBy === "change" || causedBy === "pending" || causedBy === null);
  const live =
    action === "create" ? "it does not exist" : changes.map(isText).join("; ") || `its action is now ${action}`;
  if (isOurs) return { what: "source", identity, text: `the plan does not have it, and its action is now ${action}` };
  if (isConfigured) return { what: "configuration", identity, text: `${live}, and the plan does not change that` };
  return { what: isOfSource === null && causedBy !== "drift" ? "source-or-live" : "live", identity, text: live };
}

function isText({ path, before }: Step["changes"][number]): string {
  return `${path} is ${canonical(before)}`;
}

function refusal(moved: readonly Moved[], { signable }: CurrentPlan): HoldfastError {
  const kinds = [...new Set(moved.map(({ what }) => what))];
  const places = {
    source: "the source",
    live: "live",
    "source-or-live": "the source or live",
    configuration: "the configuration",
    plan: "the plan itself",
  };
  const said = kinds.map((kind) => places[kind]).join(" and ");
  const { hint } = stale("");
  return new HoldfastError(
    "stale",
    `the plan is stale: ${said} ${kinds.length > 1 ? "have" : "has"} changed since it was made`,
    {
      hint: `${hint}, and review what changed; apply needs the same selection as plan`,
      diagnostics: moved.map(({ what, identity, text }): Diagnostic => {
        const manifest = identity === null ? undefined : signable.manifestOf(identity);
        return {
          severity: "error",
          code: `${what}-changed`,
          summary: identity === null ? text : `${what}: ${identity}: ${text}`,
          detail: null,
          file: manifest?.file ?? null,
          line: manifest?.line ?? null,
          column: manifest === undefined ? null : 1,
        };
      }),
    },
  );
}
