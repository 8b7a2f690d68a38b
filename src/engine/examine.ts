import { createHash } from "node:crypto";
import { compareText } from "../contract/json.ts";
import { rolloutState } from "../contract/rollout-state.ts";
import { isDriftAlone } from "../core/decide/drift-alone.ts";
import { holdsAt, isOfProposal } from "../core/holds.ts";
import type { Identity } from "../core/manifest.ts";
import { type ExaminedCommit, unseen } from "../core/stages/target-progress.ts";
import { kindOf } from "../kinds/index.ts";
import type { ReceiptHead } from "../state/ledger.ts";
import type { DesiredRead } from "./load.ts";
import { EVERYTHING, observe } from "./observe.ts";
import { type LivePlan, planAgainstLive } from "./plan.ts";
import type { Stoppable } from "./run.ts";
import { readAccessOf } from "./session.ts";
import type { Target } from "./target.ts";

/** Reads live of everything that a revision declares, and says whether it is applied and healthy; it writes nothing. */
export async function examine(
  target: Target,
  { desired, rules }: DesiredRead,
  run: Stoppable,
): Promise<ExaminedCommit> {
  const { session } = await target.server.connect(rules);
  const heads = await session.heads();
  const records = { heads, ledger: session.ledger };
  const given = { server: readAccessOf(session), records, rules, run };
  const scope = { ...EVERYTHING, seeksOrphans: false };
  const checks = { creates: "skipped", guards: null, hasSink: true } as const;
  const planned = await planAgainstLive(await observe(desired, { ...given, scope }), { ...given, checks });
  const open = (await session.ledger.pending()).map(({ identity }) => identity);
  if (!planned.plan.complete) return unseen("live could not be read in full");
  const left = [...unapplied(planned, heads, await driftHeld(target, run)), ...open];
  const content = contentOf(planned, heads);
  const invalid = desired.refused.length;
  if (left.length + invalid > 0) {
    const why = left.length > 0 ? `not applied: ${listed(left)}` : `${invalid} invalid`;
    return { isApplied: false, health: "progressing", why, content };
  }
  return { isApplied: true, ...healthOf(planned), content };
}

// What was changed in live, and is held because of that, is no part of a commit.
async function driftHeld({ state }: Target, { clock }: Stoppable): Promise<ReadonlySet<string>> {
  const decisions = await (await state.target()).decisions();
  return new Set(holdsAt(decisions, clock.now()).flatMap((hold) => (isOfProposal(hold) ? [hold.what] : [])));
}

// A resource that live equals by chance has no receipt of ours.
function unapplied(
  { plan, desired, decisions }: LivePlan,
  heads: ReadonlyMap<Identity, ReceiptHead>,
  held: ReadonlySet<string>,
): readonly Identity[] {
  const isHeld = (identity: Identity): boolean => {
    const decision = held.has(identity) ? decisions.get(identity) : undefined;
    return decision !== undefined && isDriftAlone(decision);
  };
  const changed = new Set(
    plan.steps.flatMap(({ action, identity }) => (DONE.includes(action) || isHeld(identity) ? [] : [identity])),
  );
  const unrecorded = desired.manifests.flatMap(({ identity }) => (heads.has(identity) ? [] : [identity]));
  return [...changed.union(new Set(unrecorded))];
}

const DONE: readonly string[] = ["keep", "orphan"];

function healthOf({ desired, observation }: LivePlan): Pick<ExaminedCommit, "health" | "why"> {
  const states = desired.manifests.flatMap(({ identity, kind }) => {
    if (!kindOf(kind)?.rollsOut) return [];
    const live = observation.live.get(identity);
    const state = live?.state === "present" ? rolloutState(live.row.status) : ("unknown" as const);
    return [{ identity, state }];
  });
  const of = (wanted: string): readonly Identity[] =>
    states.flatMap(({ identity, state }) => (state === wanted ? [identity] : []));
  const [failed, unknown, progressing] = [of("failed"), of("unknown"), of("progressing")];
  if (failed.length > 0) return { health: "failed", why: `the rollout failed: ${listed(failed)}` };
  if (unknown.length > 0) return { health: "unknown", why: `the rollout cannot be read: ${listed(unknown)}` };
  if (progressing.length > 0) return { health: "progressing", why: `rolling out: ${listed(progressing)}` };
  return { health: "healthy", why: null };
}

// Another deployment of the same content counts as other content, since it may behave in another way.
function contentOf({ desired, observation }: LivePlan, heads: ReadonlyMap<Identity, ReceiptHead>): string {
  const digest = createHash("sha256");
  for (const { identity, kind } of desired.manifests.toSorted((a, b) => compareText(a.identity, b.identity))) {
    const head = heads.get(identity);
    const live = observation.live.get(identity);
    const stamp = live?.state === "present" && kindOf(kind)?.rollsOut ? live.row.stamp : null;
    digest.update(JSON.stringify([identity, head?.digest ?? head?.mark ?? null, head?.version ?? null, stamp]));
  }
  return digest.digest("base64url");
}

const NAMED = 3;

function listed(identities: readonly Identity[]): string {
  const more = identities.length > NAMED ? ` and ${identities.length - NAMED} more` : "";
  return `${identities.slice(0, NAMED).join(", ")}${more}`;
}
