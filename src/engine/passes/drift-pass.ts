import { type DriftInput, makeDrift } from "../../core/report/drift-report.ts";
import type { DriftEvent, DriftProposal } from "../../core/report/events.ts";
import { kindsByType } from "../../kinds/index.ts";
import type { driftProposal } from "../drift/drift-proposal.ts";
import { EVERYTHING, observe } from "../observe.ts";
import type { Pass } from "../pass.ts";
import { type LivePlan, planAgainstLive } from "../plan.ts";
import { readAccessOf, type ServerSession } from "../session.ts";

/** A pass that reports drift. */
export type DriftMode = {
  readonly is: "drift";
  /** Finds what is to be proposed for git too, with what else reads its files; absent where nothing is proposed. */
  readonly propose?: Pick<Parameters<typeof driftProposal>[0], "readerOf" | "only">;
};

/** Reports what has changed in live since it was recorded. */
export async function driftPass(
  { connection: { session }, read, run }: Pass,
  { isAtBase, propose }: Pick<DriftMode, "propose"> & { readonly isAtBase: boolean },
): Promise<DriftEvent> {
  const { desired, rules } = read;
  const recorded = await session.heads();
  const given = { server: readAccessOf(session), records: { heads: recorded, ledger: session.ledger }, rules, run };
  const observed = await observe(desired, {
    ...given,
    scope: { ...EVERYTHING, facts: (await session.cache?.load(recorded)) ?? null },
  });
  const checks = { creates: "not-needed", guards: null, hasSink: session.sink !== null } as const;
  const livePlan = await planAgainstLive(observed, { ...given, checks });
  await session.cache?.keep(livePlan);
  const standsIn = recorded.size === 0 || isAtBase;
  const report = makeDrift(driftInput(livePlan, session, { standsIn }));
  const found = { livePlan, report, read, standsIn };
  const proposal = propose && (await proposalOf({ ...found, ...propose }, run));
  const { reach } = livePlan.orphans;
  const unrecorded = desired.manifests.filter(({ identity }) => !recorded.has(identity)).length;
  return {
    what: "drifted",
    report: { ...report, ...(reach === null ? {} : { history: reach }) },
    ...(livePlan.registryOnly === null ? {} : { registryOnly: livePlan.registryOnly }),
    notUsed: livePlan.notUsed,
    access: livePlan.access,
    unrecorded,
    selected: desired.manifests.length,
    ...(proposal === undefined ? {} : { proposal }),
  };
}

// Loaded here, because most drift is only reported.
async function proposalOf(...given: Parameters<typeof driftProposal>): Promise<DriftProposal> {
  const { driftProposal } = await import("../drift/drift-proposal.ts");
  return driftProposal(...given);
}

function driftInput(
  { plan, decisions, observation, desired, waved, recorded, rulesFor, own, dryRuns, orphans }: LivePlan,
  { server }: ServerSession,
  { standsIn }: { readonly standsIn: boolean },
): DriftInput {
  return {
    server,
    kinds: kindsByType,
    standsIn,
    declared: desired.declared,
    refused: desired.refused,
    nameless: desired.nameless,
    desired: waved,
    live: observation.live,
    inSync: observation.inSync,
    recorded,
    rulesFor,
    own,
    dryRuns,
    complete: plan.complete,
    diagnostics: plan.diagnostics,
    orphans: orphans.shown,
    removed: orphans.removed,
    elsewhere: orphans.elsewhere,
    base: desired.base,
    applied: null,
    planned: { plan, decisions },
  };
}
