import { FORMAT_VERSION } from "../core/format-version.ts";
import type { WriteRefusal } from "../core/guards/write-refusal.ts";
import { type Identity, type Manifest, requireRead } from "../core/manifest.ts";
import { equalRecorded, isRecordOf, type Recorded, requireOpened } from "../core/recorded.ts";
import { type ApplyReport, summariseOutcomes } from "../core/report/report.ts";
import { kindOf } from "../kinds/index.ts";
import type { Ledger } from "../state/ledger.ts";
import { applySteps } from "./apply/apply-steps.ts";
import { type CurrentPass, interruptedOutcomes, isFinished } from "./apply/interrupted-outcomes.ts";
import { uncachedReading } from "./apply/read-again.ts";
import { createReceipt } from "./apply/receipt.ts";
import type { Recovered } from "./apply/recover.ts";
import type { LivePlan } from "./plan.ts";
import type { RolloutWaiting, Run } from "./run.ts";
import type { ServerSession } from "./session.ts";
import type { ApplyRules } from "./target.ts";

/** How a plan is applied. */
export type Applying = {
  /** The session, with the writer of this pass. */
  readonly session: ServerSession;
  /** Whether a lease excludes other writers. */
  readonly hasLease: boolean;
  readonly rules: ApplyRules;
  /** Why nothing more may be written; null while writes are allowed. It is asked before each step. */
  readonly refusal: () => WriteRefusal | null;
  /** The writes of earlier runs that were open; the plan was made after their recovery, with their manifests read. */
  readonly recovered: readonly Recovered[];
  /** Whether to record resources that are equal and not yet recorded. */
  readonly recordsEqual: boolean;
  readonly run: Run & RolloutWaiting;
};

/** An apply's report, with the locations of its one-time tokens. */
export type ApplyResult = ApplyReport & {
  readonly tokens: readonly { readonly identity: Identity; readonly location: string }[];
};

/** Applies a plan: each step runs once its dependencies are done. The report lists every outcome, earlier runs' included. */
export async function apply(planned: LivePlan, applying: Applying): Promise<ApplyResult> {
  const { session, hasLease, rules, refusal, recovered, recordsEqual, run } = applying;
  const { plan, desired } = planned;
  const interrupted = interruptedManifests(planned, recovered);
  await dropGoneRecords(planned, session);
  if (recordsEqual) await recordEqual(planned, session.ledger, run.clock.now());
  const reading = uncachedReading(session, rules.concurrency, run.signal);
  const { ends, resumed } = await applySteps(planned, recovered, {
    ...{ session, hasLease, rules, refusal, reading, run },
  });
  await session.ledger.storeWaitingFacts();
  const wanted: CurrentPass = { plan, manifests: interrupted, declared: desired.declared, resumed };
  const over = recovered.filter((one) => isFinished(one, wanted));
  await Promise.all(over.map(({ intent }) => session.ledger.close(intent.id, null)));
  const outcomes = [...interruptedOutcomes(recovered, wanted), ...ends.map(({ outcome }) => outcome)];
  return {
    format_version: FORMAT_VERSION,
    revision: plan.revision,
    server: plan.server,
    summary: summariseOutcomes(outcomes),
    outcomes,
    diagnostics: plan.diagnostics,
    tokens: [
      ...recovered.flatMap(({ intent: { identity }, token }) => tokenAt(identity, token)),
      ...ends.flatMap(({ outcome: { identity }, token }) => tokenAt(identity, token)),
    ],
  };
}

function tokenAt(identity: Identity, location: string | null): ApplyResult["tokens"] {
  return location === null ? [] : [{ identity, location }];
}

function interruptedManifests({ desired }: LivePlan, recovered: readonly Recovered[]): ReadonlyMap<Identity, Manifest> {
  const interrupted = new Set(recovered.map(({ intent }) => intent.identity));
  const manifests = desired.manifests.filter(({ identity }) => interrupted.has(identity));
  return new Map(manifests.map((manifest) => [manifest.identity, requireRead(manifest)]));
}

// Drops the records of resources that are neither declared nor live.
async function dropGoneRecords(
  { desired, observation: { live }, recorded }: LivePlan,
  { ledger }: ServerSession,
): Promise<void> {
  const gone = recorded
    .keys()
    .filter((identity) => !desired.declared.has(identity) && live.get(identity)?.state === "absent")
    .toArray();
  if (gone.length > 0) await ledger.forget(gone);
}

/**
 * Records equal resources that have no record, or another one: later drift is then distinguishable from a later change of
 * the manifest.
 */
async function recordEqual(
  { plan, decisions, desired, observation: { live }, recorded }: LivePlan,
  ledger: Ledger,
  at: number,
): Promise<void> {
  const manifests = new Map(desired.manifests.map((manifest) => [manifest.identity, manifest]));
  const receipts = plan.steps.flatMap(({ action, identity, kind: type }): Recorded[] => {
    const [manifest, found, head] = [manifests.get(identity), live.get(identity), recorded.get(identity)];
    if (action !== "keep" || manifest === undefined || found?.state !== "present") return [];
    const { row } = found;
    const known = head === undefined ? null : requireOpened(head);
    if (known !== null && isRecordOf(known, requireRead(manifest).value, row.manifest)) return [];
    const kind = kindOf(type);
    if (kind === undefined) return [];
    const ignored = decisions.get(identity)?.ignored ?? [];
    const sent = { kind, identity, written: requireRead(manifest).value, ignored };
    const receipt = createReceipt(sent, row, { known, at });
    return known !== null && equalRecorded(known, receipt) ? [] : [receipt];
  });
  if (receipts.length > 0) await ledger.record(receipts);
}
