import type { InterruptedWrite, PlanSignature, SecretFingerprint } from "../../contract/generated/output.ts";
import { compareText } from "../../contract/json.ts";
import { withServerSide } from "../../core/diff/server-side-changes.ts";
import { HoldfastError } from "../../core/errors.ts";
import { signingRefusal } from "../../core/guards/signing-refusal.ts";
import { writeRefusedWarning } from "../../core/guards/write-refusal.ts";
import { requireKind } from "../../core/kind.ts";
import { hardwareChange } from "../../core/plan/hardware-change.ts";
import { incompleteIfInvalid, withRunWarnings } from "../../core/plan/make-plan.ts";
import { notWritable } from "../../core/plan/not-writable.ts";
import { type Gate, writes } from "../../core/plan/plan.ts";
import { signPlan } from "../../core/plan/sign-plan.ts";
import { policyConsent } from "../../core/policies/policy.ts";
import { valuesIn } from "../../core/referenced-values.ts";
import type { PlanEvent, Unmanaged } from "../../core/report/events.ts";
import { kindOf, kinds, kindsByType } from "../../kinds/index.ts";
import { isParsed } from "../../manifests/source-manifest.ts";
import { gateAskerOf } from "../gates/ask-gates.ts";
import { guard, locateRefusal } from "../guard.ts";
import { invalidOutcomes } from "../invalid-outcomes.ts";
import { findShrunk, requireUnemptied } from "../load/source-guards.ts";
import { observeEverything } from "../observe/observe-everything.ts";
import { EVERYTHING, observe, type Records } from "../observe.ts";
import type { Pass } from "../pass.ts";
import { findSecretUses } from "../plan/find-secret-uses.ts";
import { locateChanges } from "../plan/locate-changes.ts";
import { type LivePlan, planAgainstLive } from "../plan.ts";
import { requireNamedPolicies } from "../policies/load-policies.ts";
import { warnOfFindings } from "../policies/warn-of-findings.ts";
import type { SecretValues } from "../secrets/secret-values.ts";
import { readAccessOf } from "../session.ts";
import { signableOf, signerOf } from "../signed-inputs.ts";
import type { Rules } from "../target.ts";

/** A pass that plans and writes nothing. */
export type PlanMode = {
  readonly is: "plan";
  /** Show fields that only the server adds. */
  readonly showServer: boolean;
  /** Show live resources that are neither declared nor recorded. */
  readonly showUnmanaged: boolean;
  /** Show which of the values of secrets are equal. */
  readonly showFingerprints: boolean;
  /** The changes that the gate counts; null without a gate. */
  readonly gate: Gate | null;
  /** Whether every policy that a flag names must be there. @default false */
  readonly requiresPolicies?: boolean;
  /** Whether the plan is signed, to be applied later, and names the place of each change. */
  readonly signs: boolean;
};

/** Plans what an apply would do. */
export async function planPass(pass: Pass, mode: PlanMode): Promise<PlanEvent> {
  const { showServer, showUnmanaged, showFingerprints, gate, signs } = mode;
  const { session } = pass.connection;
  const stored = await session.heads();
  const { desired, rules, event: read } = pass.read;
  const { policies } = pass.read.policies;
  if (mode.requiresPolicies) requireNamedPolicies(rules.allowedPolicies, { policies });
  if (gate === "change" && desired.base === null && stored.size === 0) throw nothingToCompare();
  const { records, writesOf } = await withInterrupted({ heads: stored, ledger: session.ledger }, pass);
  const counted = { capabilities: session.capabilities, recorded: records.heads, declared: desired.declared };
  requireUnemptied(counted, rules);
  const given = { server: readAccessOf(session), records, rules, run: pass.run };
  // This option shows fields that the plan leaves out, and the cache knows only of the stored records.
  const cache = showServer || records.heads !== stored ? null : session.cache;
  const scope = { ...EVERYTHING, resolvesValues: true, facts: (await cache?.load(stored)) ?? null };
  const observed = await observe(desired, { ...given, scope });
  const creates = rules.dryRunsCreates ? "dry-run" : "skipped";
  const gates = await gateAskerOf(pass.gates, { session, clock: pass.run.clock, keeps: false });
  const judging = { set: pass.read.policies, allowed: rules.allowedPolicies };
  const checks = { creates, guards: null, hasSink: session.sink !== null, gates, policies: judging } as const;
  const livePlan = await planAgainstLive(observed, { ...given, checks });
  await cache?.keep(livePlan);
  if (pass.drift !== null) {
    const { driftAlone } = await import("../drift/drift-alone.ts");
    await pass.drift.propose(driftAlone(livePlan, pass), pass.run);
  }
  const { plan: found, ...event } = planEvent(livePlan);
  warnOfFindings(livePlan, pass.run);
  const refusedNow = pass.writeRefusal();
  const warnings = [...pass.warnings(), ...(refusedNow === null ? [] : [writeRefusedWarning(refusedNow)])];
  const made = withRunWarnings(incompleteIfInvalid(found), warnings);
  const refused = rules.refusedRisks.difference(new Set(rules.allowedRisks));
  // The same guards as those of an apply without a person.
  const isAllowed = (policy: string): boolean => rules.allowedPolicies.includes(policy);
  const shrunk = findShrunk(counted, rules);
  const { plan: guarded, refusal: why } = guard({ ...livePlan, plan: made }, { risks: refused, isAllowed }, shrunk);
  const refusal = why && (await locateRefusal(why, pass.run));
  const shrinks = rules.allowShrink ? (["shrink"] as const) : [];
  const consented = rules.allowedPolicies.filter((name) => policies.some((one) => one.name === name));
  const consents = consented.map((name) => policyConsent(name, policies));
  const allows = [...rules.allowedRisks, ...shrinks, ...consents];
  // The text of a plan names the places of patches alone.
  const { stopping: signal } = pass.run;
  const located = await locateChanges({ ...livePlan, plan: guarded }, { patchedOnly: !signs, signal });
  const { access, observation } = livePlan;
  const approvals = approvalsOf(rules, access);
  const plan = { ...located, ...(allows.length === 0 ? {} : { allows }), ...(approvals && { approvals }) };
  const interrupted = writesOf(livePlan);
  const hardware = hardwareChange(plan, {
    manifests: livePlan.desired.manifests,
    live: observation.live,
    kinds: kindsByType,
  });
  const { concurrency } = rules;
  const uses = await findSecretUses(livePlan, { reader: session.reader, concurrency, signal });
  const lacking = notWritable(plan, { access, live: observation.live, kinds: kindsByType });
  return {
    ...event,
    plan,
    refusal,
    ...(lacking.length === 0 ? {} : { notWritable: lacking }),
    ...(uses.length === 0 ? {} : { secretUses: uses }),
    ...(interrupted.length === 0 ? {} : { interrupted }),
    ...(hardware === null ? {} : { hardware }),
    ...(desired.refused.length === 0 ? {} : { invalid: await invalidOutcomes(desired, session) }),
    // What an apply would refuse must not be approved.
    signature: signs && signingRefusal({ plan, refusal }) === null ? signatureOf(plan, livePlan, pass) : null,
    withServerSide: showServer ? serverSide({ ...livePlan, plan }) : null,
    ...(showFingerprints && { fingerprints: fingerprintsOf(livePlan, session.values) }),
    unmanaged: showUnmanaged ? await unmanagedBeside(livePlan, pass) : null,
    ...(read.otherDocuments.documents === 0 ? {} : { otherDocuments: read.otherDocuments }),
  };
}

/** The fingerprints of the values that the plan writes. */
function fingerprintsOf({ plan, desired }: LivePlan, values: SecretValues): readonly SecretFingerprint[] {
  const writing = new Set(plan.steps.filter(writes).map(({ identity }) => identity));
  return desired.manifests.flatMap((manifest): readonly SecretFingerprint[] => {
    const { identity } = manifest;
    if (!writing.has(identity) || !isParsed(manifest)) return [];
    return valuesIn(requireKind(kindsByType, manifest.kind), manifest.value).flatMap(({ name: key, reference }) => {
      const fingerprint = typeof reference === "string" ? values.fingerprint(identity, reference) : null;
      return fingerprint === null ? [] : [{ identity, key, fingerprint }];
    });
  });
}

type WithInterrupted = {
  readonly records: Records;
  /** What an apply of a plan does about the open writes. */
  readonly writesOf: (livePlan: LivePlan) => readonly InterruptedWrite[];
};

// An apply first settles the writes that an earlier run left open, so the plan starts from the records that it has then.
async function withInterrupted(
  records: Records,
  { connection: { session }, read: { rules }, run }: Pass,
): Promise<WithInterrupted> {
  const pending = await session.ledger.pending();
  if (pending.length === 0) return { records, writesOf: () => [] };
  // Imported here, since most plans find no open write.
  const [{ startRecovery }, { foreseeRecovery, interruptedWrites, recordsAfter }] = await Promise.all([
    import("../apply/recover.ts"),
    import("../apply/foresee-recovery.ts"),
  ]);
  const recovery = await startRecovery(session, rules.concurrency, { ...run, signal: run.stopping });
  const foreseen = await foreseeRecovery(pending, recovery);
  return {
    records: recordsAfter(foreseen, records),
    writesOf: (livePlan) => interruptedWrites(foreseen, livePlan, run.clock.now()),
  };
}

// Who is asked to approve it sees who made it.
function approvalsOf({ approvals: rule }: Rules, access: LivePlan["access"]): PlanEvent["plan"]["approvals"] | null {
  if (rule === null) return null;
  const { atLeast, keys } = rule;
  return { atLeast, keys: keys.map(({ line }) => line), ...(access === null ? {} : { plannedBy: access.subject }) };
}

function signatureOf(plan: PlanEvent["plan"], livePlan: LivePlan, pass: Pass): PlanSignature {
  const signer = signerOf(pass);
  return signPlan({ ...plan }, signableOf(livePlan), signer);
}

// Without a base or records the cause of every difference is unknown, so the gate would pass everything.
function nothingToCompare(): HoldfastError {
  return new HoldfastError(
    "invalid",
    "--gate change cannot identify this change: there is no base, and nothing is recorded",
    {
      hint: "name the base with --base REF, or the state of an earlier apply with --state",
    },
  );
}

/** The event that reports a plan. */
export function planEvent({
  plan,
  decisions,
  blocked,
  notUsed,
  access,
  orphans: { reach: history },
  registryOnly,
  desired: { changedSince, branch },
}: LivePlan): PlanEvent {
  const details = new Map<string, string>();
  let ignored = 0;
  for (const [identity, decision] of decisions) {
    ignored += decision.ignored.length;
    if (decision.detail) details.set(identity, decision.detail);
  }
  return {
    what: "planned",
    plan,
    ...(changedSince === undefined ? {} : { changedSince }),
    ...(branch === undefined ? {} : { branch }),
    ignored,
    details,
    blocked,
    notUsed,
    access,
    ...(history === null ? {} : { history }),
    ...(registryOnly === null ? {} : { registryOnly }),
    refusal: null,
    signature: null,
    withServerSide: null,
    unmanaged: null,
  };
}

function serverSide(livePlan: LivePlan): PlanEvent["plan"] {
  const { waved, observation } = livePlan;
  return withServerSide(livePlan, { kinds: kindsByType, desired: waved, live: observation.live });
}

async function unmanagedBeside(
  { desired, plan, recorded }: LivePlan,
  { connection: { session }, read: { rules }, run }: Pass,
): Promise<Unmanaged> {
  const reading = { server: session, mayExist: new Map(), concurrency: rules.concurrency, run };
  const { rows, unread } = await observeEverything(kinds, reading);
  const orphans = plan.steps.flatMap(({ action, identity }) => (action === "orphan" ? [identity] : []));
  const identities = [...rows].flatMap(([type, found]) => {
    const hasVersions = kindOf(type)?.hasVersions;
    const named = new Set(
      [...desired.declared, ...recorded.keys(), ...orphans].map((identity) =>
        hasVersions ? identity.replace(/@\d+$/, "") : identity,
      ),
    );
    return found.map(({ key }) => `${type}/${key}`).filter((identity) => !named.has(identity));
  });
  return { identities: [...new Set(identities)].toSorted(compareText), unread };
}
