import type { InterruptedWrite } from "../../contract/generated/output.ts";
import { compareText } from "../../contract/json.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import { withServerSide } from "../../core/diff/server-side-changes.ts";
import { HoldfastError } from "../../core/errors.ts";
import { guardedSteps } from "../../core/guards/guarded-steps.ts";
import { SHRUNK_SOURCE } from "../../core/guards/mass-change-guards.ts";
import { sealRefusal } from "../../core/guards/seal-refusal.ts";
import type { Kind } from "../../core/kind.ts";
import { incompleteIfInvalid, withGuards, withRunWarnings } from "../../core/plan/make-plan.ts";
import { notWritable } from "../../core/plan/not-writable.ts";
import type { Gate, Plan } from "../../core/plan/plan.ts";
import { makeSeal, type SignedSeal, signSeal } from "../../core/plan/seal.ts";
import type { GuardRefusal, PlanEvent, Unmanaged } from "../../core/report/events.ts";
import { kindOf, kinds, kindsByType } from "../../kinds/index.ts";
import { guardRefusal } from "../guard.ts";
import { invalidOutcomes } from "../invalid-outcomes.ts";
import type { LastGood } from "../load/last-good-revision.ts";
import { findShrunk, requireUnemptied, type ShrunkSource } from "../load/source-guards.ts";
import { type Pass, planContextIn } from "../pass.ts";
import { type LivePlan, type PlanContext, planAgainstLive } from "../plan-against-live.ts";
import { sealableOf, sealingOf } from "../seal-inputs.ts";

/** A pass that plans and writes nothing. */
export type PlanMode = {
  readonly is: "plan";
  /** Show fields that only the server adds. */
  readonly showServer: boolean;
  /** Show live resources that are neither declared nor recorded. */
  readonly showUnmanaged: boolean;
  /** The changes that the gate counts; null without a gate. */
  readonly gate: Gate | null;
  /** Whether the plan is sealed, to be applied later. */
  readonly seals: boolean;
  /** The last good revision of a daemon that only reports. */
  readonly lastGood?: LastGood;
};

/** Plans what an apply would do. */
export async function planPass(pass: Pass, { showServer, showUnmanaged, gate, seals }: PlanMode): Promise<PlanEvent> {
  const stored = await pass.connection.session.heads();
  const { desired, rules, event: read } = pass.read;
  if (gate === "change" && desired.base === null && stored.size === 0) throw nothingToCompare();
  const { serverFacts } = pass.connection.session;
  const { planContext, writesOf } = await withInterrupted(planContextIn(pass, stored, { records: false }), pass);
  const { recorded } = planContext;
  const counted = { serverFacts, recorded, declared: desired.declared };
  requireUnemptied(counted, rules);
  // These options show fields or rows that the plan leaves out, so every row must be read.
  const livePlan = await planAgainstLive(
    desired,
    showServer || showUnmanaged
      ? { ...planContext, cache: null, ...(showUnmanaged ? { alsoListed: kinds.filter(hasList) } : {}) }
      : planContext,
  );
  const { plan: found, ...event } = planEvent(livePlan);
  const made = withRunWarnings(incompleteIfInvalid(found), pass.warnings());
  const { plan: guarded, refusal } = await guardPlan(made, livePlan, findShrunk(counted, rules), pass);
  const allows = [...rules.allowedRisks, ...(rules.allowShrink ? (["shrink"] as const) : [])];
  const plan = allows.length === 0 ? guarded : { ...guarded, allows };
  const { access, observation } = livePlan;
  const interrupted = writesOf(livePlan);
  const lacking = notWritable(plan, { access, live: observation.live, kinds: kindsByType });
  return {
    ...event,
    plan,
    refusal,
    ...(lacking.length === 0 ? {} : { notWritable: lacking }),
    ...(interrupted.length === 0 ? {} : { interrupted }),
    ...(desired.refused.length === 0 ? {} : { invalid: await invalidOutcomes(desired, pass.connection.session) }),
    // What an apply would refuse must not be approved.
    seal: seals && sealRefusal({ plan, refusal }) === null ? await sealOf(plan, livePlan, pass) : null,
    withServerSide: showServer ? serverSide({ ...livePlan, plan }, planContext) : null,
    unmanaged: showUnmanaged ? unmanagedIn(livePlan, planContext) : null,
    ...(read.foreign.documents === 0 ? {} : { foreign: read.foreign }),
  };
}

type WithInterrupted = {
  readonly planContext: PlanContext;
  /** What an apply of a plan does about the open writes. */
  readonly writesOf: (livePlan: LivePlan) => readonly InterruptedWrite[];
};

// An apply first settles the writes that an earlier run left open, so the plan starts from the records that it has then.
async function withInterrupted(
  planContext: PlanContext,
  { connection: { session }, read: { rules }, context }: Pass,
): Promise<WithInterrupted> {
  const pending = await session.ledger.pending();
  if (pending.length === 0) return { planContext, writesOf: () => [] };
  // Imported here, since most plans find no open write.
  const [{ recoveryWith }, { foreseeRecovery, interruptedWrites, recordsAfter }] = await Promise.all([
    import("../apply/apply-with-recovery.ts"),
    import("../apply/foresee-recovery.ts"),
  ]);
  const { clock, stopping: signal, emit: onProgress } = context;
  const options = { concurrency: rules.concurrency, clock, signal, onProgress };
  const foreseen = await foreseeRecovery(pending, await recoveryWith(session, options));
  return {
    planContext: { ...planContext, ...recordsAfter(foreseen, planContext) },
    writesOf: (livePlan) => interruptedWrites(foreseen, livePlan, clock.now()),
  };
}

type Guarded = { readonly plan: Plan; readonly refusal: GuardRefusal | null };

// The same guards as those of an apply without a person.
async function guardPlan(
  plan: Plan,
  livePlan: LivePlan,
  shrunk: ShrunkSource | null,
  { read: { rules }, context }: Pass,
): Promise<Guarded> {
  const refused = rules.refusedRisks.difference(new Set(rules.allowedRisks));
  const refusal = await guardRefusal(livePlan, refused, context);
  const guarded = guardedSteps(livePlan, refused);
  const missing = shrunk?.missing ?? [];
  const guards = new Map([
    ...guarded.map(({ step, guard }) => [step.identity, guard] as const),
    ...missing.map((identity) => [identity, SHRUNK] as const),
  ]);
  const made = withGuards(plan, guards, guarded.length + missing.length);
  if (shrunk === null) return { plan: made, refusal };
  return { plan: withRunWarnings(made, [shrunkError(shrunk)]), refusal: withShrunk(refusal, shrunk) };
}

const SHRUNK = { flags: ["--allow-shrink"], dangers: [] };

function shrunkError({ error: { message, hint } }: ShrunkSource): Diagnostic {
  const place = { file: null, line: null, column: null };
  return {
    severity: "error",
    code: SHRUNK_SOURCE,
    summary: `apply refuses this: ${message}`,
    detail: hint,
    ...place,
  };
}

function withShrunk(refusal: GuardRefusal | null, { error: { message } }: ShrunkSource): GuardRefusal {
  const { flags = [], needsPerson = false, diagnostics = [] } = refusal ?? {};
  return { message, flags: [...SHRUNK.flags, ...flags], needsPerson, diagnostics };
}

async function sealOf(plan: PlanEvent["plan"], livePlan: LivePlan, pass: Pass): Promise<SignedSeal> {
  const sealing = sealingOf(pass);
  return signSeal({ ...plan }, makeSeal(await sealableOf(livePlan, [], pass.context), sealing), sealing);
}

// Without a base or records the cause of every difference is unknown, so the gate would pass everything.
function nothingToCompare(): HoldfastError {
  return new HoldfastError(
    "invalid",
    "--gate change cannot identify this change: there is no base, and nothing is recorded",
    {
      hint: "name the base with --base REF, or the state folder of an earlier apply with --state DIR",
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
  reach: history,
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
    refusal: null,
    seal: null,
    withServerSide: null,
    unmanaged: null,
  };
}

function serverSide(livePlan: LivePlan, planContext: PlanContext): PlanEvent["plan"] {
  return withServerSide(livePlan, { ...planContext, desired: livePlan.waved, live: livePlan.observation.live });
}

const hasList = ({ list }: Kind) => list !== undefined;

function unmanagedIn({ observation, desired, plan }: LivePlan, { recorded }: Pick<PlanContext, "recorded">): Unmanaged {
  const orphans = plan.steps.flatMap(({ action, identity }) => (action === "orphan" ? [identity] : []));
  const notListed = kinds.filter(({ type }) => !observation.rows.has(type)).map(({ type }) => type);
  const identities = [...observation.rows].flatMap(([type, rows]) => {
    const hasVersions = kindOf(type)?.hasVersions;
    const named = new Set(
      [...desired.declared, ...recorded.keys(), ...orphans].map((identity) =>
        hasVersions ? identity.replace(/@\d+$/, "") : identity,
      ),
    );
    return rows.map(({ key }) => `${type}/${key}`).filter((identity) => !named.has(identity));
  });
  return { identities: [...new Set(identities)].toSorted(compareText), notListed };
}
