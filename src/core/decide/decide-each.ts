import { updateGuard } from "../guards/mass-change-guards.ts";
import { firstWriteGuard, type HoldAll, holdBack } from "../guards/step-guards.ts";
import { exists } from "../live.ts";
import { type Identity, type ManifestHead, requireRead, splitIdentity } from "../manifest.ts";
import type { PlanInput } from "../plan/plan-input.ts";
import { requireOpened } from "../recorded.ts";
import { decide } from "./decide.ts";
import type { BlockingReference, Decision, DecisionInput } from "./decision.ts";
import { risksOf } from "./step-risks.ts";
import { hiddenFrom, type IsHidden } from "./visibility.ts";

// Where live cannot be read, the ledger's word is taken for this long.
const TRUST_MS = 24 * 60 * 60 * 1000;

/** Decides on every selected manifest, in order; what is in sync is left out. */
export function decideEach(input: PlanInput): ReadonlyMap<Identity, Decision> {
  const { guards, desired } = input;
  const decisions = decideAll(input, { writes: null, updates: null });
  // Whether too much is updated at once, or everything waits, shows when everything is decided.
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
  const isHidden = hiddenFrom(input);
  for (const { manifest } of input.desired) {
    const { identity } = manifest;
    if (input.inSync.has(identity)) continue;
    const decision = decideOne(input, manifest, { decisions, isStale, isHidden });
    decisions.set(identity, input.guards === null ? decision : holdBack(identity, decision, input.guards, all));
  }
  return decisions;
}

type Before = {
  /** What was decided about the manifests before it. */
  readonly decisions: ReadonlyMap<Identity, Decision>;
  readonly isStale: (identity: Identity) => boolean;
  readonly isHidden: IsHidden;
};

function decideOne(input: PlanInput, manifest: ManifestHead, { decisions, isStale, isHidden }: Before): Decision {
  const { identity } = manifest;
  const kind = input.kindOf(manifest.kind);
  if (kind === undefined) throw new TypeError(`no kind ${manifest.kind}`);
  const known = input.recorded.get(identity);
  const live = input.live.get(identity) ?? ({ state: "unknown", reason: "no-read" } as const);
  const one: DecisionInput = {
    kind,
    shape: input.shapeOf(manifest.kind),
    manifest: requireRead(manifest),
    live,
    recorded: known === undefined ? null : requireOpened(known),
    dryRun: input.dryRuns.get(identity) ?? null,
    base: input.base && { manifest: input.base.get(identity) },
    applied: input.applied && { manifest: input.applied.get(identity) },
    serverFacts: input.serverFacts,
    ignored: input.rulesFor(identity),
    obstacle: obstacleOf(input, manifest, decisions),
    isHidden: live.state !== "present" && isHidden(manifest, decisions),
    hasSink: input.hasSink,
    isStale: isStale(identity),
  };
  const decision = decide(one);
  const risks = risksOf(one, decision, { subject: input.subject, isEmbedded: input.server === "embedded" });
  return risks.length === 0 ? decision : { ...decision, risks };
}

/**
 * Tells whether the ledger's word on a resource that cannot be read is too old, or not to be trusted: a recorded
 * resource that can be read is gone, and has not left the source as well, which would mean that it was deleted on purpose.
 */
export function staleness({
  recorded,
  declared,
  live,
  dryRuns,
  now,
}: Pick<PlanInput, "recorded" | "declared" | "live" | "now"> & Partial<Pick<PlanInput, "dryRuns">>): (
  identity: Identity,
) => boolean {
  let isDoubted: boolean | null = null;
  return (identity) => {
    // What this token cannot see is not gone.
    const isGone = (one: Identity): boolean =>
      declared.has(one) && live.get(one)?.state === "absent" && dryRuns?.get(one)?.state !== "forbidden";
    isDoubted ??= recorded.keys().some(isGone);
    const known = recorded.get(identity);
    return isDoubted || (known !== undefined && now - known.at > TRUST_MS);
  };
}

function obstacleOf(
  input: PlanInput,
  { references }: ManifestHead,
  decisions: ReadonlyMap<Identity, Decision>,
): BlockingReference | null {
  const { live, invalid, declared, kindOf } = input;
  for (const { identity } of references) {
    // What a guard holds back is to come first, whatever of it is there.
    if (decisions.get(identity)?.reason === "guard") return { reason: "dependency", identity };
    if (exists(input, identity)) continue;
    if (invalid.has(identity)) return { reason: "dependency", identity };
    if (decisions.get(identity)?.action === "block") return { reason: "dependency", identity };
    const known = live.get(identity)?.state === "absent" && kindOf(splitIdentity(identity).kind) !== undefined;
    if (!declared.has(identity) && known) return { reason: "reference-absent", identity };
  }
  return null;
}
