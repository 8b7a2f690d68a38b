import { canonical, compareText, isObject, type Json, type JsonObject } from "../../contract/json.ts";
import type { Diagnostic } from "../diagnostic.ts";
import { HoldfastError } from "../errors.ts";
import { findForged } from "./forged-plan.ts";
import type { Plan, Step } from "./plan.ts";
import { bucketOf, digestsOf, keptDigests, liveStamp, type Sealable, type Sealing } from "./seal.ts";
import { bareStep, edited, type SealedPlan, stale, stepJson } from "./sealed-plan.ts";

/** The plan computed now, and its inputs for comparison with a seal. */
export type CurrentPlan = { readonly plan: Plan; readonly sealable: Sealable; readonly sealing: Sealing };

/** An input of a sealed plan that has changed. */
type Moved = {
  readonly what: "source" | "live" | "source-or-live" | "configuration" | "plan";
  readonly identity: string | null;
  readonly text: string;
};

/**
 * Throws unless the current plan equals the sealed plan or the rest of it. A step counts as done if live equals its
 * manifest and the manifest equals the sealed one.
 */
export function requireSamePlan(sealed: SealedPlan, current: CurrentPlan): void {
  if (sealed.server !== current.plan.server) {
    throw new HoldfastError("stale", `the plan is for ${sealed.server}, and this is ${current.plan.server}`, {
      hint: "pass the plan's server with --server, or make the plan again",
    });
  }
  const { seal } = sealed;
  const isConfigured = seal.configuration !== current.sealing.configuration;
  const isOwnKey = seal.key === current.sealing.key;
  if (isOwnKey ? seal.signature !== current.sealing.keyed(seal.content) : !isWhole(sealed)) throw edited();
  requireKey(sealed, current);
  const now = new Map(current.plan.steps.map((step) => [step.identity, step]));
  const done = [...sealed.steps].filter(([identity, step]) =>
    isDone(identity, step, now.get(identity), sealed, current),
  );
  const isLeft = new Set(done.map(([identity]) => identity));
  const isNew = ({ action, identity }: Step): boolean => action !== "keep" && !sealed.steps.has(identity);
  const unplanned = current.plan.steps.filter(isNew);
  const isSourceMoved = unplanned.length === 0 ? () => null : findMovedSources(sealed, current);
  // Orphans cause no action, and another ledger may know other ones.
  const fresh = unplanned.filter(({ action, identity }) => action !== "orphan" || isSourceMoved(identity) === true);
  const moved = [
    ...[...sealed.steps]
      .filter(([identity]) => !isLeft.has(identity))
      .flatMap(([identity, step]) => movedStep(identity, step, now.get(identity), sealed, current)),
    ...fresh.map((step) => newStep(step, isSourceMoved(step.identity), isConfigured)),
  ];
  const forged = moved.length > 0 || isOwnKey ? [] : findForged(sealed, current.plan);
  const all = [...moved, ...forged.map((text): Moved => ({ what: "plan", identity: null, text }))];
  if (all.length === 0) return;
  throw refusal(isConfigured ? [...all, CONFIGURATION] : all, current);
}

// The seal covers exactly the plan's steps.
function isWhole({ seal, steps }: SealedPlan): boolean {
  const sealedSteps = Object.keys(seal.live);
  return sealedSteps.length === steps.size && sealedSteps.every((identity) => steps.has(identity));
}

const CONFIGURATION: Moved = {
  what: "configuration",
  identity: null,
  text: "the configuration, or what was selected, is not what it was",
};

// The same commit has the same secrets; otherwise only the key can compare them.
function requireKey({ seal, revision }: SealedPlan, { plan, sealing }: CurrentPlan): void {
  const isSameCommit = revision !== null && revision === plan.revision;
  if (isSameCommit || seal.key === sealing.key || Object.keys(seal.secrets).length === 0) return;
  throw new HoldfastError("invalid", "the plan has secret values that were sealed with another key", {
    hint: "give plan and apply the same HOLDFAST_STATE_KEY (or the same --state), or plan and apply the same commit",
  });
}

function isDone(
  identity: string,
  { action }: JsonObject,
  step: Step | undefined,
  sealed: SealedPlan,
  current: CurrentPlan,
): boolean {
  // Under another configuration, a step may be missing because an ignore rule suppresses it.
  if (sealed.seal.configuration !== current.sealing.configuration) return false;
  const didWrite = action === "create" || action === "update" || action === "ensure";
  return didWrite && step?.action === "keep" && isSameSource(identity, sealed, current);
}

function isSameSource(identity: string, { seal, revision }: SealedPlan, current: CurrentPlan): boolean {
  const manifest = current.sealable.manifestOf(identity);
  if (manifest === undefined) return seal.source[identity] === undefined;
  const { open, keyed } = digestsOf(manifest, current.sealable, current.sealing);
  if (seal.source[identity] !== open) return false;
  const sealedKeyed = seal.secrets[identity] ?? null;
  // Without secrets the open digest covers the whole manifest.
  if (keyed === null && sealedKeyed === null) return true;
  if (seal.key !== current.sealing.key) return revision !== null && revision === current.plan.revision;
  return sealedKeyed === keyed;
}

function movedStep(
  identity: string,
  was: JsonObject,
  now: Step | undefined,
  sealed: SealedPlan,
  current: CurrentPlan,
): readonly Moved[] {
  if (was.action === "orphan" && (now === undefined || now.action === "orphan")) return [];
  const stamp = liveStamp(current.sealable.liveOf(identity));
  const isSameLive = (sealed.seal.live[identity] ?? null) === stamp;
  const moved: Moved[] = [];
  if (!isSameSource(identity, sealed, current)) {
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

function sourceText(identity: string, { sealable }: CurrentPlan): string {
  return sealable.manifestOf(identity) === undefined
    ? "the manifest is not declared any more"
    : "the manifest has changed";
}

function liveText(identity: string, was: JsonObject, now: Step | undefined, { sealable }: CurrentPlan): string {
  const live = sealable.liveOf(identity);
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
  { seal, steps, revision }: SealedPlan,
  { plan, sealable, sealing }: CurrentPlan,
): (identity: string) => boolean | null {
  const isSameCommit = revision !== null && revision === plan.revision;
  const { kept } = seal;
  if (isSameCommit || kept === undefined || seal.key !== sealing.key) return () => (isSameCommit ? false : null);
  const now = keptDigests(sealable, (identity) => steps.has(identity), sealing);
  return (identity) => kept[bucketOf(identity)] !== now[bucketOf(identity)];
}

function newStep(step: Step, isOfSource: boolean | null, isConfigured: boolean): Moved {
  const { action, identity, causedBy, changes } = step;
  const isOurs = isOfSource ?? (causedBy === "change" || causedBy === "pending" || causedBy === null);
  const live = changes.map(isText).join("; ") || "it does not exist";
  if (isOurs) return { what: "source", identity, text: `the plan does not have it, and its action is now ${action}` };
  if (isConfigured) return { what: "configuration", identity, text: `${live}, and the plan does not change that` };
  return { what: isOfSource === null && causedBy !== "drift" ? "source-or-live" : "live", identity, text: live };
}

function isText({ path, before }: Step["changes"][number]): string {
  return `${path} is ${canonical(before)}`;
}

function refusal(moved: readonly Moved[], { sealable }: CurrentPlan): HoldfastError {
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
        const manifest = identity === null ? undefined : sealable.manifestOf(identity);
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
