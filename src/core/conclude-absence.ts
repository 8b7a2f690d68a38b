import { isDocumented, operation } from "../contract/operations.ts";
import type { DryRunReply } from "./decide/decision.ts";
import { type Kinds, kindIn, parentOf } from "./kind.ts";
import { exists, type Live, type LiveView } from "./live.ts";
import type { Identity } from "./manifest.ts";
import { hasOwnRoles, isShown, type Sight, showsTenant } from "./sight.ts";

/** From what the absence of a resource is concluded. */
export type AbsenceContext = {
  readonly sight: Sight;
  readonly kinds: Kinds;
  readonly dryRuns: ReadonlyMap<Identity, DryRunReply>;
  /** Whether this control plane is proven to change nothing in a dry run. */
  readonly isProven: boolean;
};

const NOT_VISIBLE: Live = { state: "unknown", reason: "not-visible" };
const NO_READ: Live = { state: "unknown", reason: "no-read" };

/**
 * Live, with a resource absent only where that is proven: the token's roles show it, it lies in something visible or
 * absent, or a dry run would create it. What may exist unseen is unknown.
 */
export function concludeAbsence(view: LiveView, context: AbsenceContext): ReadonlyMap<Identity, Live> {
  const judged = new Map<Identity, Live>();
  for (const [identity, live] of view.live) {
    const now = judge(identity, live, view, context);
    if (now !== live) judged.set(identity, now);
  }
  return judged.size === 0 ? view.live : new Map([...view.live, ...judged]);
}

function judge(identity: Identity, live: Live, view: LiveView, context: AbsenceContext): Live {
  if (live.state === "present" || (live.state === "unknown" && live.reason !== "no-read")) return live;
  const { sight, kinds } = context;
  if (live.state === "absent" && (showsTenant(sight) || isShown(sight, identity, kinds))) return live;
  const parent = parentOf(identity, kinds);
  if (parent === null) return wouldBeCreated(identity, context) ? ABSENT : withoutProof(identity, live, context);
  if (exists(view, parent) && !hasOwnRoles(identity)) return live;
  const around = view.live.get(parent);
  const above = around === undefined ? NOT_VISIBLE : judge(parent, around, view, context);
  if (above.state === "absent") return live.state === "absent" ? live : ABSENT;
  return live.state === "absent" || isNotVisible(above) ? NOT_VISIBLE : live;
}

const ABSENT: Live = { state: "absent" };

function isNotVisible(live: Live | undefined): boolean {
  return live?.state === "unknown" && live.reason === "not-visible";
}

function wouldBeCreated(identity: Identity, { dryRuns, isProven, kinds }: AbsenceContext): boolean {
  const reply = dryRuns.get(identity);
  return isProven && hasDryRun(identity, kinds) && reply?.state === "answered" && reply.row?.id === null;
}

// Without the token's roles, a documented dry run may still show more than the list or the lookup.
function withoutProof(identity: Identity, live: Live, { sight, kinds }: AbsenceContext): Live {
  if (live.state !== "absent") return live;
  return sight === null && hasDryRun(identity, kinds) ? NO_READ : NOT_VISIBLE;
}

function hasDryRun(identity: Identity, kinds: Kinds): boolean {
  const routes = kindIn(kinds, identity)?.writeRoutes ?? [];
  return routes.some(({ dryRun }) => dryRun !== undefined && isDocumented(operation(dryRun)));
}
