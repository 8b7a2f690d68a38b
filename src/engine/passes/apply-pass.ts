import type { Access } from "../../core/access.ts";
import type { ApprovalFile } from "../../core/approvals/require-approvals.ts";
import { HoldfastError } from "../../core/errors.ts";
import { otherWriterWarnings } from "../../core/guards/other-writer.ts";
import { firstWriteGuard, type PlanGuards } from "../../core/guards/step-guards.ts";
import { type WriteRefusal, writeRefused } from "../../core/guards/write-refusal.ts";
import { parentOf } from "../../core/kind.ts";
import type { Identity } from "../../core/manifest.ts";
import { missingExtensions } from "../../core/missing-extensions.ts";
import { type Plan, type Risk, writes } from "../../core/plan/plan.ts";
import { requireSamePlan } from "../../core/plan/require-same-plan.ts";
import type { SignedPlan } from "../../core/plan/signed-plan.ts";
import { allFindings, isConsentOutdated, policyConsent, refusingFindings } from "../../core/policies/policy.ts";
import type { ApplyEvent, PassResult, PlanEvent } from "../../core/report/events.ts";
import { type Outcome, summariseOutcomes } from "../../core/report/report.ts";
import { runWarning } from "../../core/run-warning.ts";
import { missingRoleToWrite } from "../../core/sight.ts";
import { kindsByType } from "../../kinds/index.ts";
import type { SourceHead } from "../../manifests/source-manifest.ts";
import type { PendingIntent } from "../../state/ledger.ts";
import { locateOutcome } from "../apply/apply-steps.ts";
import { type Recovered, recover, startRecovery } from "../apply/recover.ts";
import { dueTokens, rotateDueTokens } from "../apply/rotate-due-tokens.ts";
import { type ApplyResult, apply } from "../apply.ts";
import { gateAskerOf } from "../gates/ask-gates.ts";
import { guard, locateRefusal, refusedByGuards } from "../guard.ts";
import { invalidOutcomes } from "../invalid-outcomes.ts";
import type { Leader } from "../lease/leader.ts";
import { accessOfLeader, accessOfRun, type WriteAccess } from "../lease/write-access.ts";
import type { Desired } from "../load/desired.ts";
import { heldContents } from "../load/held-contents.ts";
import { agreedFacts, requireUnshrunk } from "../load/source-guards.ts";
import { removedToKeep } from "../observe/removed-manifests.ts";
import { EVERYTHING, observe } from "../observe.ts";
import type { Pass } from "../pass.ts";
import { locateChanges } from "../plan/locate-changes.ts";
import { judgedAgain, type LivePlan, planAgainstLive } from "../plan.ts";
import { requireNamedPolicies } from "../policies/load-policies.ts";
import { warnOfFindings } from "../policies/warn-of-findings.ts";
import type { RolloutWaiting, Run } from "../run.ts";
import { readAccessOf, type ServerSession } from "../session.ts";
import { signableOf, signerOf } from "../signed-inputs.ts";
import type { Rules } from "../target.ts";
import { planEvent } from "./plan-pass.ts";

/** The scope of a pass: everything, or the changes since the revision applied last. */
export type PassScope = "all" | "changes";

/** A pass that applies a plan. */
export type ApplyMode = {
  readonly is: "apply";
  /** Called before any write, and again after a second read of live; null where only guards decide. */
  readonly approve: ((planned: PlanEvent, located: () => Promise<Plan>) => Promise<Approval>) | null;
  /** The plan that was approved in advance; null without one. */
  readonly signed: SignedPlan | null;
  /** The signatures of that plan; absent where it needs none. */
  readonly approvals?: ApprovalFile;
  /** @default "all" */
  readonly scope?: PassScope;
  /** The leader of a daemon, which holds its lease over many passes; null or absent where each pass acquires its own lease. */
  readonly leader?: Leader | null;
  /** Replaces the plan by another one; every row of live is read for it. */
  readonly revise?: (planned: LivePlan, recovered: readonly Recovered[]) => LivePlan;
  /** Whether a person writes although writes are refused now. @default false */
  readonly isForced?: boolean;
  /** How a daemon stops waiting for rollouts when a newer revision is due; absent for a pass that waits for their end. */
  readonly waiting?: RolloutWaiting;
};

/** The answer to a plan: given by a user who has seen it, or in advance, with the allowed risks. */
export type Approval =
  | { readonly is: "declined" }
  | { readonly is: "confirmed" }
  /** Without risks of its own, it allows those that the rules allow. */
  | { readonly is: "agreed"; readonly allows: readonly string[] | null };

/** Plans and applies what the source declares. */
export async function applyPass(pass: Pass, mode: ApplyMode): Promise<PassResult> {
  const { read } = pass;
  const { rules } = read;
  await using access = mode.leader ? accessOfLeader(mode.leader, pass) : accessOfRun(pass);
  const session = await access.begin();
  // After a standby everything may have changed.
  if (session === null) return { what: "superseded" };
  if (read.isLastApplied === true && access.mayBeBehind()) throw behind(read.desired.revision);
  if (mode.approve !== null && mode.revise === undefined) requireNamedPolicies(rules.allowedPolicies, read.policies);
  const recovered = await recoverPending(session, access, pass);
  const refusal = refusalOf(pass, mode);
  const wasRefused = pass.writeRefusal();
  // What an earlier run left open is settled in a freeze too: the steps are then left out one by one, with this reason.
  const isRefused = refusal() !== null;
  if (recovered.length === 0) requireAllowed(refusal, mode);
  const prepared = await preparePlan(recovered, session, pass, mode);
  const writtenBack = await writtenBackIn(prepared, pass, mode);
  const plan = (): Promise<LivePlan> => prepared(writtenBack.identities);
  const planned = writtenBack.planned ?? (await plan());
  if (!isRefused && !(await isApproved(planned, pass, mode))) return { what: "declined" };
  if (!isRefused) requireAllowed(refusal, mode);
  const rotating = { session, run: pass.run };
  const mayRotate = mode.approve === null && mode.revise === undefined && !isRefused;
  const due = mayRotate ? await dueTokens(read.desired.declared, rotating) : [];
  const right = await access.take(!isRefused && (planned.plan.steps.some(writes) || due.length > 0));
  const current = right.mustPlanAgain ? await plan() : planned;
  if (right.mustPlanAgain && !(await isApproved(current, pass, mode))) return { what: "declined" };
  if (right.mayHaveOthers) warnOfOtherWriters(current, pass);
  warnOfFindings(current, pass.run);
  // Where the first write needs adoption, not even equal resources are recorded: an empty ledger marks the first write.
  const isHeldBack =
    firstWriteGuard(current.decisions.values(), { refused: rules.refusedRisks, isFirst: true }) !== null;
  const recordsEqual = current.recorded.size > 0 || !isHeldBack;
  if (recordsEqual) agree(current, pass, mode);
  const { hasLease } = right;
  if (current.plan.steps.some(writes)) await pass.onWrites();
  const run = { ...pass.run, ...(mode.waiting ?? untilTheEnd()) };
  const writing = { session: right.use(), hasLease, rules, refusal };
  const applied = await apply(current, { ...writing, recovered, recordsEqual, run });
  const won = applied.outcomes.filter(({ identity, result }) => {
    return writtenBack.identities.has(identity) && result === "updated";
  });
  if (won.length > 0) await pass.drift?.written(won.map(({ identity }) => identity));
  const rotated = refusal() === null ? await rotateDueTokens(due, { ...rotating, session: writing.session }) : [];
  if (read.isLastApplied !== true) access.caughtUp();
  const event = await applyEvent({ ...applied, tokens: [...applied.tokens, ...rotated] }, current, pass);
  const notUsed = [...event.notUsed, ...missingExtensions(access.lacks())];
  const forced = mode.isForced ? (wasRefused ?? pass.writeRefusal()) : null;
  return { ...event, notUsed, ...(forced === null ? {} : { forced }) };
}

type WrittenBack = {
  readonly identities: ReadonlySet<Identity>;
  /** The plan by which this was found; null where another one has to be made. */
  readonly planned: LivePlan | null;
};

// A part of the source shows a part of the drift, which stays as it is until the next pass over all of it.
async function writtenBackIn(plan: PreparedPlan, pass: Pass, { approve, revise }: ApplyMode): Promise<WrittenBack> {
  const none = new Set<Identity>();
  const { drift, part, run } = pass;
  if (drift === null || part !== null || approve !== null || revise !== undefined)
    return { identities: none, planned: null };
  const planned = await plan(none);
  const { driftAlone } = await import("../drift/drift-alone.ts");
  const identities = await drift.propose(driftAlone(planned, pass), run);
  return { identities, planned: identities.size === 0 ? planned : null };
}

// What was applied here last would undo what another process has applied since.
function behind(revision: string | null): HoldfastError {
  const last = revision === null ? "the last one" : `the last one, ${revision.slice(0, 12)},`;
  return new HoldfastError(
    "error",
    `nothing was written: the newest commit cannot be used, and another process may have applied newer ones than ${last} that this process has applied`,
    { hint: "once the newest commit can be used, the passes go on by themselves" },
  );
}

// Once writes are refused, the pass writes nothing more: nobody has approved what it would write later.
function refusalOf({ writeRefusal }: Pass, { isForced = false }: ApplyMode): () => WriteRefusal | null {
  let refusal: WriteRefusal | null = null;
  return () => {
    refusal ??= isForced ? null : writeRefusal();
    return refusal;
  };
}

// A daemon goes on and reports what it does not write.
function requireAllowed(refusal: () => WriteRefusal | null, { approve }: ApplyMode): void {
  const found = refusal();
  if (found !== null && approve !== null) throw writeRefused(found);
}

// Stored with the first record, so that neither is there without the other. A command for a few resources agrees to nothing.
function agree(planned: LivePlan, { connection: { session }, read }: Pass, { revise }: ApplyMode): void {
  if (revise !== undefined) return;
  session.capabilities.agree({ ...agreedFacts(planned, read), removed: removedToKeep(planned) });
}

const UNVERIFIED = runWarning(
  "unverified-plan",
  "another key has signed the plan: its steps are verified, but not the causes that it names",
  "give plan and apply the same HOLDFAST_STATE_KEY to verify all of it",
);

async function isApproved(planned: LivePlan, pass: Pass, { approve, signed }: ApplyMode): Promise<boolean> {
  const { rules } = pass.read;
  if (signed !== null) {
    const signer = signerOf(pass);
    const signable = signableOf(planned);
    requireSamePlan(signed, { plan: planned.plan, signable, signer });
    if (signed.signature.key !== signer.key) pass.run.emit({ what: "warned", warnings: [UNVERIFIED] });
  }
  // A step that a policy denies was blocked where nobody is asked.
  if (approve === null) return true;
  const denied = guard(planned, { risks: new Set(), isAllowed: () => true }, null).refusal;
  if (denied !== null) throw refusedByGuards(await locateRefusal(denied, pass.run));
  const signal = pass.run.stopping;
  const approval = await approve(planEvent(planned), () => locateChanges(planned, { patchedOnly: true, signal }));
  if (approval.is === "agreed") {
    // Under another key the flags of the plan cannot be verified, so apply must have them too.
    const isVerified = signed === null || signed.signature.key === signerOf(pass).key;
    const { policies } = pass.read.policies;
    const own = [...rules.allowedRisks, ...rules.allowedPolicies.map((name) => policyConsent(name, policies))];
    const agreed = approval.allows ?? own;
    const allows = isVerified ? agreed : own.filter((one) => agreed.includes(one));
    const isAllowed = (policy: string): boolean => allows.includes(policyConsent(policy, policies));
    const { refusal } = guard(planned, { risks: without(rules.refusedRisks, allows), isAllowed }, null);
    if (refusal === null) return true;
    const asking = refusingFindings(allFindings(planned.findings), isAllowed);
    const outdated = asking.filter(({ name }) => isConsentOutdated(agreed, name, policies)).map(({ name }) => name);
    const by = signed === null ? "flags" : isVerified ? "own-key" : "other-key";
    throw refusedByGuards(await locateRefusal(refusal, pass.run), { by, outdated: [...new Set(outdated)] });
  }
  return approval.is !== "declined";
}

function without(refused: ReadonlySet<Risk>, allowed: readonly string[]): ReadonlySet<Risk> {
  return refused.difference(new Set(allowed));
}

// Interrupted writes of an earlier run are settled before planning.
async function recoverPending(
  session: ServerSession,
  access: WriteAccess,
  { read, run }: Pass,
): Promise<readonly Recovered[]> {
  const pending = await session.ledger.pending();
  if (pending.length === 0) return [];
  // A lease covers what the source declares.
  const isFenced = (intent: PendingIntent): boolean =>
    access.isFenced(intent) && read.desired.declared.has(intent.identity);
  return recover(pending, await startRecovery(session, read.rules.concurrency, run, isFenced));
}

/** Makes the plan, which writes back only these of the resources that live alone has changed, where drift is proposed. */
type PreparedPlan = (writtenBack: ReadonlySet<Identity>) => Promise<LivePlan>;

// Live is read each time that the plan is made.
async function preparePlan(
  recovered: readonly Recovered[],
  session: ServerSession,
  pass: Pass,
  mode: ApplyMode,
): Promise<PreparedPlan> {
  const { read, part } = pass;
  const { rules } = read;
  // An interrupted write may be about any resource, so it widens the pass to the whole source.
  const desired = recovered.length === 0 && part !== null ? part : read.desired;
  const recorded = await recordedFor(desired, session);
  const { capabilities } = session;
  if (desired !== part) requireUnshrunk({ capabilities, recorded, declared: desired.declared }, rules);
  const isFirst = recorded.size === 0 && (desired.outOfScope === undefined || (await session.heads()).size === 0);
  const { revise } = mode;
  const proposes = pass.drift !== null && revise === undefined;
  const readsEach = desired === part;
  const cache = readsEach || revise !== undefined ? null : session.cache;
  const scope = {
    ...EVERYTHING,
    needsReceipts: true,
    readsEach,
    seeksOrphans: revise === undefined,
    resolvesValues: true,
    values: new Set([...recovered.map(({ intent }) => intent.identity), ...(mode.signed?.steps.keys() ?? [])]),
  };
  const checked = rules.dryRunsCreates ? "dry-run" : "skipped";
  const checks = {
    creates: revise === undefined ? checked : "not-needed",
    guards: mode.approve === null ? { ...guardsOf(rules), held: await heldIn(pass), isFirst } : null,
    hasSink: session.sink !== null,
    // A command for a few resources deploys what is live again, which stays whatever a gate says.
    gates: revise === undefined ? await gateAskerOf(pass.gates, { session, clock: pass.run.clock, keeps: true }) : null,
    policies: { set: read.policies, allowed: rules.allowedPolicies },
  } as const;
  const given = {
    server: readAccessOf(session),
    records: { heads: recorded, ledger: session.ledger },
    rules,
    run: pass.run,
  };
  return async (writtenBack) => {
    const guards = checks.guards && { ...checks.guards, ...(proposes ? { writtenBack } : {}) };
    const facts = (await cache?.load(recorded)) ?? null;
    const observed = await observe(desired, { ...given, scope: { ...scope, facts } });
    const planned = await planAgainstLive(observed, { ...given, checks: { ...checks, guards } });
    await cache?.keep(planned);
    return revise === undefined ? planned : judgedAgain(revise(planned, recovered), { checks, run: pass.run });
  };
}

// For a part of the source, only the records that concern it.
async function recordedFor(desired: Desired, { ledger, heads }: ServerSession): ReturnType<ServerSession["heads"]> {
  if (desired.outOfScope === undefined) return heads();
  const named = desired.manifests.flatMap(({ identity, references }) => [
    identity,
    ...references.map((one) => one.identity),
  ]);
  return ledger.recorded(new Set([...named, ...named.flatMap((identity) => parentOf(identity, kindsByType) ?? [])]));
}

// After the source was accepted: a refused commit ends no hold.
async function heldIn({ read, holds, connection, run }: Pass): Promise<ReadonlyMap<Identity, string>> {
  const held = await holds.held();
  if (held.size === 0 || read.isLastApplied === true) return held;
  const { key } = connection.state;
  return holds.heldAfter(await heldContents(read, [...held.keys()], { ...run, key }));
}

function guardsOf({ refusedRisks, allowedRisks, updateShare }: Rules): PlanGuards {
  const refused = without(refusedRisks, allowedRisks);
  return { refused, ...(updateShare === null ? {} : { updateShare }) };
}

function untilTheEnd(): RolloutWaiting {
  return { stopWaiting: new AbortController().signal, onLeft: () => undefined };
}

function warnOfOtherWriters({ observation, recorded }: LivePlan, { connection, run }: Pass): void {
  const { capabilities, serverTime } = connection.session;
  const now = serverTime() ?? run.clock.now();
  const seen = { live: observation.live, recorded, subject: capabilities.subject, now };
  run.emit({ what: "warned", warnings: otherWriterWarnings(seen) });
}

/** The event that reports an applied plan. Invalid manifests are in it even if only a part of the source was processed. */
async function applyEvent(
  { tokens, ...applied }: ApplyResult,
  { plan, notUsed, desired: { outOfScope }, orphans: { reach }, registryOnly, access }: LivePlan,
  { connection, read, run }: Pass,
): Promise<ApplyEvent> {
  const sent = applied.outcomes.map((outcome) => withMissingRole(outcome, access));
  const outcomes = [...sent, ...(await invalidOutcomes(read.desired, connection.session))];
  const { unchanged, ...others } = summariseOutcomes(outcomes);
  const report = { ...applied, outcomes, summary: { ...others, unchanged: unchanged + (outOfScope ?? 0) } };
  const places = await placesOf(report, read.desired.manifests, run);
  const isPart = outOfScope !== undefined;
  const history = reach === null ? {} : { history: reach };
  const known = registryOnly === null ? {} : { registryOnly };
  return { what: "applied", report, plan, isPart, tokens, notUsed, ...history, ...known, places };
}

function withMissingRole(outcome: Outcome, access: Access | null): Outcome {
  const { error, identity } = outcome;
  if (error?.status !== 403) return outcome;
  const role = missingRoleToWrite(access, identity, kindsByType);
  return role === null ? outcome : { ...outcome, error: { ...error, role } };
}

async function placesOf(
  { outcomes }: ApplyEvent["report"],
  manifests: readonly SourceHead[],
  { signal }: Run,
): Promise<ReadonlyMap<Identity, string>> {
  const failed = outcomes.filter(({ error }) => error !== null);
  if (failed.length === 0) return new Map();
  const byIdentity = new Map(manifests.map((manifest) => [manifest.identity, manifest]));
  const places = new Map<Identity, string>();
  for (const outcome of failed) {
    const place = await locateOutcome(outcome, byIdentity, { signal });
    if (place !== null) places.set(outcome.identity, place);
  }
  return places;
}
