import { updateGuard } from "../guards/mass-change-guards.ts";
import { firstWriteGuard, type HoldAll, holdBack } from "../guards/step-guards.ts";
import { kindIn, requireKind } from "../kind.ts";
import { exists } from "../live.ts";
import { type Identity, type ManifestHead, requireRead } from "../manifest.ts";
import { writes } from "../plan/plan.ts";
import type { PlanInput } from "../plan/plan-input.ts";
import { requireOpened } from "../recorded.ts";
import { roleThatShows } from "../sight.ts";
import { decide } from "./decide.ts";
import type { BlockingReference, Decision, DecisionInput } from "./decision.ts";
import { dangersOf } from "./step-risks.ts";

// How long a ledger record counts as current when live cannot be read.
const TRUST_MS = 24 * 60 * 60 * 1000;

/** Decides on every selected manifest, in order. Resources in sync are left out. */
export function decideEach(input: PlanInput): ReadonlyMap<Identity, Decision> {
  const { guards, desired } = input;
  const decisions = decideAll(input, { writes: null, updates: null });
  // The update limit and the first-write hold depend on all decisions, so they are computed in a second pass.
  if (guards === null) return decisions;
  const steps = desired.map(({ manifest }) => decisions.get(manifest.identity) ?? { action: "keep" as const });
  const all = {
    writes: firstWriteGuard(decisions.values(), guards),
    updates: updateGuard(steps, input.outOfScope ?? 0, guards.updateShare),
  };
  return all.writes === null && all.updates === null ? decisions : decideAll(input, all);
}

function decideAll(input: PlanInput, all: HoldAll): ReadonlyMap<Identity, Decision> {
  const decisions = new Map<Identity, Decision>();
  const isStale = staleness(input);
  for (const { manifest } of input.desired) {
    const { identity } = manifest;
    if (input.inSync.has(identity)) continue;
    const decision = behindGates(identity, decideOne(input, manifest, { decisions, isStale }), input);
    decisions.set(identity, input.guards === null ? decision : holdBack(identity, decision, input.guards, all));
  }
  return decisions;
}

// What is live stays: a gate stops only what would be written.
function behindGates(identity: Identity, decision: Decision, { closed }: PlanInput): Decision {
  const why = closed?.get(identity);
  if (why === undefined || !writes(decision)) return decision;
  return { ...decision, action: "block", reason: "gate", detail: why, pointer: null };
}

type Before = {
  /** Decisions on the manifests earlier in the order. */
  readonly decisions: ReadonlyMap<Identity, Decision>;
  readonly isStale: (identity: Identity) => boolean;
};

function decideOne(input: PlanInput, manifest: ManifestHead, { decisions, isStale }: Before): Decision {
  const { identity } = manifest;
  const known = input.recorded.get(identity);
  const live = input.live.get(identity) ?? ({ state: "unknown", reason: "no-read" } as const);
  const one: DecisionInput = {
    kind: requireKind(input.kinds, manifest.kind),
    manifest: requireRead(manifest),
    live,
    recorded: known === undefined ? null : requireOpened(known),
    dryRun: input.dryRuns.get(identity) ?? null,
    base: input.base && { manifest: input.base.get(identity) },
    applied: appliedOf(input, identity),
    isOwn: input.own.has(identity),
    capabilities: input.capabilities,
    ignored: input.rulesFor(identity),
    obstacle: obstacleOf(input, manifest, decisions),
    roleThatShows: () => roleThatShows(input, identity),
    hasSink: input.hasSink,
    noFiles: input.noFiles?.get(identity) ?? null,
    isStale: isStale(identity),
  };
  const decision = decide(one);
  const dangers = dangersOf(one, decision, input);
  if (dangers.length === 0) return decision;
  return { ...decision, dangers, risks: [...new Set(dangers.map(({ risk }) => risk))] };
}

function appliedOf({ own, applied }: PlanInput, identity: Identity): DecisionInput["applied"] {
  const manifest = own.get(identity)?.manifest ?? null;
  return manifest === null ? applied && { manifest: applied.get(identity) } : { manifest };
}

/**
 * Returns a check whether the ledger must not be trusted for a resource that cannot be read: because its record is
 * older than a day, or because a recorded, still declared resource that can be read is gone. A resource that also left
 * the source was probably deleted on purpose.
 */
export function staleness({
  recorded,
  declared,
  live,
  now,
}: Pick<PlanInput, "recorded" | "declared" | "live" | "now">): (identity: Identity) => boolean {
  let isUntrusted: boolean | null = null;
  return (identity) => {
    const isGone = (one: Identity): boolean => declared.has(one) && live.get(one)?.state === "absent";
    isUntrusted ??= recorded.keys().some(isGone);
    const known = recorded.get(identity);
    return isUntrusted || (known !== undefined && now - known.at > TRUST_MS);
  };
}

function obstacleOf(
  input: PlanInput,
  { references }: ManifestHead,
  decisions: ReadonlyMap<Identity, Decision>,
): BlockingReference | null {
  const { live, invalid, declared, kinds } = input;
  for (const { identity, pointer } of references) {
    // A dependency that is held back must be applied first, even if it exists.
    const { reason, keepsLive = false } = decisions.get(identity) ?? {};
    if (reason === "guard" || reason === "gate" || reason === "policy")
      return { reason: "dependency", identity, pointer };
    if (reason === "held" && !keepsLive) return { reason, identity, pointer };
    if (exists(input, identity)) continue;
    if (invalid.has(identity)) return { reason: "dependency", identity, pointer };
    if (decisions.get(identity)?.action === "block") return { reason: "dependency", identity, pointer };
    const known = live.get(identity)?.state === "absent" && kindIn(kinds, identity) !== undefined;
    if (!declared.has(identity) && known) return { reason: "reference-absent", identity, pointer };
  }
  return null;
}
