import type { ServerCapabilities } from "../client/server-capabilities.ts";
import type { OperationName } from "../contract/operations.ts";
import type { DryRunReply } from "../core/decide/decision.ts";
import { isActedOn } from "../core/diff/field-cause.ts";
import { refusedSteps } from "../core/guards/policy-guard.ts";
import type { PlanGuards } from "../core/guards/step-guards.ts";
import { manifestToSend } from "../core/ignore/keep-ignored.ts";
import type { Kind } from "../core/kind.ts";
import { type Identity, requireRead } from "../core/manifest.ts";
import { type MissingExtension, missingExtensions } from "../core/missing-extensions.ts";
import { type BlockedStep, blockedSteps } from "../core/plan/blocked-steps.ts";
import { hardwareChange } from "../core/plan/hardware-change.ts";
import {
  makePlan,
  withBlockDiagnostics,
  withGateAnswers,
  withNotChecked,
  withPolicyFindings,
} from "../core/plan/make-plan.ts";
import { type Step, writes } from "../core/plan/plan.ts";
import type { PlanWithDecisions } from "../core/plan/plan-input.ts";
import { NO_FINDINGS, type PolicyFindings } from "../core/policies/policy.ts";
import type { StepManifests } from "../core/policies/policy-input.ts";
import { sightOf } from "../core/sight.ts";
import { kindOf, kindsByType } from "../kinds/index.ts";
import { locateFields } from "../manifests/read-manifests.ts";
import { subjectName } from "../model/roles.ts";
import type { AskGates } from "./gates/ask-gates.ts";
import { createDryRun } from "./observe/dry-run.ts";
import { concluded, withoutStale } from "./observe/judge-live.ts";
import { readUndecided } from "./observe/read-undecided.ts";
import { appliedIn, type Observed, type Records } from "./observe.ts";
import { askAboutOrphans, withAnswers } from "./plan/ask-about-orphans.ts";
import { answersIn, askAboutSteps, closedIn } from "./plan/ask-about-steps.ts";
import { type FoundOwnContent, findOwnContent, NOTHING_OWN } from "./plan/find-own-content.ts";
import { type CreateChecks, distinct, type PreflightResult, preflight, withExisting } from "./plan/preflight.ts";
import { judgePlan } from "./policies/judge-plan.ts";
import type { PolicySet } from "./policies/policy-set.ts";
import type { Stoppable } from "./run.ts";
import type { ReadAccess } from "./session.ts";
import type { PlanRules } from "./target.ts";

/** How the steps of a plan are checked. */
export type StepChecks = {
  /** Whether creates are dry-run. */
  readonly creates: CreateChecks;
  /** Guards that block steps when no user approves the plan; null with an approval, or when nothing is written. */
  readonly guards: PlanGuards | null;
  /** Whether one-time tokens can be stored. */
  readonly hasSink: boolean;
  /** What asks the gates of what would be written; absent where there are none, or nothing is decided. */
  readonly gates?: AskGates | null;
  /** The policies that judge the steps, and those that a flag allows; absent where nothing is judged. */
  readonly policies?: JudgingPolicies | null;
};

/** The policies of a plan, and the names of those that a flag allows. */
type JudgingPolicies = { readonly set: PolicySet; readonly allowed: readonly string[] };

/** The values that a plan is made with. */
export type Planning = {
  readonly server: ReadAccess;
  readonly records: Records;
  readonly rules: PlanRules;
  readonly checks: StepChecks;
  readonly run: Stoppable;
};

/** A plan with the live state that it is based on. */
export type LivePlan = PlanWithDecisions &
  Observed & {
    /** The causes of the blocked steps. */
    readonly blocked: readonly BlockedStep[];
    /** Unrecorded resources that are this repository's own. */
    readonly own: FoundOwnContent["own"];
    readonly dryRuns: ReadonlyMap<Identity, DryRunReply>;
    /** Extensions that the kinds of this plan could use and the control plane lacks. */
    readonly notUsed: readonly MissingExtension[];
    /** What policies find in it. */
    readonly findings: PolicyFindings;
  };

/** Plans what makes live follow: decides, asks the control plane about the steps, and decides again with its answers. */
export async function planAgainstLive(observed: Observed, planning: Planning): Promise<LivePlan> {
  const { server, checks } = planning;
  const lackedBefore = lacking(observed, server.capabilities).length;
  const first = decide(observed, { ...NOTHING_ASKED, dryRuns: observed.observation.dryRuns }, planning, null);
  const { current, ...asked } = await ask(first, observed, planning);
  const missing = lacking(observed, server.capabilities);
  // A probe may have shown that the server lacks an operation that the plan needs.
  const isFinal = !asked.hasLearned && missing.length === lackedBefore;
  // Guards come last, so that the steps they block are dry-run too.
  const guards = first.plan.steps.some(writes) ? checks.guards : null;
  const settled = isFinal ? first : decide(current, asked, planning, null);
  const gated = await askAboutSteps(settled, current, checks.gates ?? null, planning.run);
  const closed = closedIn(gated);
  const findings = judgeSteps(settled, current, planning);
  const held =
    guards === null ? null : { ...guards, policies: refusedSteps(settled.plan, findings, allowedIn(checks)) };
  const isSettled = guards === null && closed.size === 0;
  const final = isSettled ? settled : decide(current, { ...asked, closed }, planning, held);
  const blocked = await blockedIn(final, current, planning);
  const { own, dryRuns, notChecked } = asked;
  const live = concluded(current.observation, dryRuns, sightOf(current.access), server.capabilities);
  const planned = {
    ...current,
    ...withBlockDiagnostics(
      withPolicyFindings(withGateAnswers(withNotChecked(final, notChecked), answersIn(gated)), findings),
      blocked,
    ),
    blocked,
    findings,
    observation: withExisting(live, dryRuns),
    own: own.own,
    dryRuns,
    notUsed: missingExtensions(missing),
  };
  await server.capabilities.save();
  return planned;
}

/** A plan that was revised after it was judged, with what policies find in it now. */
export function judgedAgain(revised: LivePlan, planning: Pick<Planning, "checks" | "run">): LivePlan {
  const findings = judgeSteps(revised, revised, planning);
  return { ...revised, ...withPolicyFindings(revised, findings), findings };
}

function judgeSteps(
  { plan, decisions }: PlanWithDecisions,
  { waved, observation }: Pick<Observed, "waved" | "observation">,
  { checks: { policies = null }, run: { clock } }: Pick<Planning, "checks" | "run">,
): PolicyFindings {
  if (policies === null || policies.set.policies.length === 0) return NO_FINDINGS;
  const manifests = new Map(waved.map(({ manifest }) => [manifest.identity, manifest]));
  const { live } = observation;
  const manifestsOf = ({ identity, kind: type }: Step): StepManifests | null => {
    const [manifest, kind, decision] = [manifests.get(identity), kindOf(type), decisions.get(identity)];
    if (manifest === undefined || kind === undefined || decision === undefined) return null;
    const found = live.get(identity);
    const after = manifestToSend(kind, requireRead(manifest), found, decision);
    return { kind, live: found?.state === "present" ? found.row : null, after };
  };
  const hardware = hardwareChange(plan, { manifests: [...manifests.values()], live, kinds: kindsByType });
  return judgePlan(policies.set, { plan, manifestsOf, hardware }, clock);
}

function allowedIn({ policies = null }: StepChecks): (policy: string) => boolean {
  const allowed = new Set(policies?.allowed ?? []);
  return (name) => allowed.has(name);
}

/** What the control plane and the repository have answered about the steps of a first plan. */
type Answers = PreflightResult & {
  readonly own: FoundOwnContent;
  /** Why gates block steps. @default none */
  readonly closed?: ReadonlyMap<Identity, string>;
};

const NOTHING_ASKED: Answers = { dryRuns: new Map(), notChecked: new Map(), unclear: [], own: NOTHING_OWN };

function decide(
  { desired, waved, observation, recorded, rulesFor, orphans, access, noFiles }: Observed,
  { dryRuns, unclear, own, closed = new Map() }: Answers,
  { server: { server, capabilities }, rules, checks: { hasSink }, run }: Planning,
  guards: PlanGuards | null,
): PlanWithDecisions {
  const sight = sightOf(access);
  return makePlan({
    ...desired,
    server,
    capabilities,
    kinds: kindsByType,
    desired: waved,
    live: concluded(observation, dryRuns, sight, capabilities).live,
    inSync: observation.inSync,
    recorded,
    dryRuns,
    rulesFor,
    applied: appliedIn(desired, recorded),
    own: own.own,
    removed: orphans.removed,
    elsewhere: orphans.elsewhere,
    orphans: orphans.shown,
    writers: writersOf(rules, capabilities),
    sight,
    hasSink,
    noFiles,
    now: run.clock.now(),
    complete: observation.complete && unclear.length === 0,
    diagnostics: [...desired.diagnostics, ...observation.diagnostics, ...unclear, ...own.warnings],
    outOfScope: desired.outOfScope ?? 0,
    guards,
    closed,
  });
}

type Asked = Answers & {
  /** What was observed, with what the answers show of live. */
  readonly current: Observed;
  /** Whether any answer can change the plan. */
  readonly hasLearned: boolean;
};

// Dry runs of the writes and of what may be an orphan, and the history of what differs and has no record.
async function ask(
  first: PlanWithDecisions,
  observed: Observed,
  { server, records, rules, checks, run: { clock, stopping: signal } }: Planning,
): Promise<Asked> {
  const { desired: declared, waved, observation, orphans, access } = observed;
  const { capabilities } = server;
  const { concurrency, ignore } = rules;
  const sight = sightOf(access);
  const dryRun = createDryRun(server, concurrency);
  const asking = { server, dryRun, creates: checks.creates, sight, concurrency, signal };
  const unchecked = { ...first, ...observation, waved, answered: observation.dryRuns };
  const tried = await preflight(unchecked, asking);
  const question = { ...orphans, live: observation.live, declared: declared.declared, recorded: observed.recorded };
  const answers = await askAboutOrphans({ ...question, history: declared.history }, unchecked, asking);
  const answered = withAnswers(observation, answers);
  const dryRuns = new Map([...answered.dryRuns, ...tried.dryRuns]);
  // Dry runs may have shown that something recorded is gone, and then no record is trusted.
  const judged = concluded(answered, dryRuns, sight, capabilities);
  const { inSync } = withoutStale(judged, declared, { recorded: records.heads, now: clock.now() });
  const now = { ...observed, observation: { ...answered, inSync } };
  const isDistrusted = inSync.size < observation.inSync.size;
  const reading = { records, ignore, pace: { clock, signal } };
  const current = isDistrusted
    ? { ...now, ...observed.withStandIns(await readUndecided(declared, inSync, reading)) }
    : now;
  const { desired, recorded, rulesFor } = current;
  const differing = current.waved.filter(({ manifest: { identity } }) => isUnrecorded(first, identity, recorded));
  const own = await findOwnContent(
    { differing, live: answered.live, dryRuns, rulesFor, writers: writersOf(rules, capabilities) },
    desired,
    { reader: server.reader, concurrency, signal },
  );
  const unclear = distinct([...tried.unclear, ...answers.unclear]);
  const learned = tried.dryRuns.size + answers.dryRuns.size + unclear.length + own.own.size + own.warnings.length;
  return { current, dryRuns, notChecked: tried.notChecked, unclear, own, hasLearned: learned > 0 };
}

// Only what differs and has no record is worth asking the history of the repository for.
function isUnrecorded(
  { decisions }: PlanWithDecisions,
  identity: Identity,
  recorded: ReadonlyMap<Identity, unknown>,
): boolean {
  return !recorded.has(identity) && (decisions.get(identity)?.differences ?? []).some(({ cause }) => isActedOn(cause));
}

function writersOf({ writers }: PlanRules, { subject }: ServerCapabilities): ReadonlySet<string> {
  return new Set([...writers, ...(subject === null ? [] : [subject])].map(subjectName));
}

async function blockedIn(
  { decisions }: PlanWithDecisions,
  { waved }: Observed,
  { run: { stopping: signal } }: Planning,
): Promise<readonly BlockedStep[]> {
  const fields = waved.flatMap(({ manifest }) => {
    const decision = decisions.get(manifest.identity);
    return decision?.action === "block" ? [{ manifest, pointer: decision.pointer }] : [];
  });
  return blockedSteps(await locateFields(fields, { signal }), decisions);
}

function lacking({ requested }: Observed, capabilities: ServerCapabilities): readonly OperationName[] {
  return capabilities.missing(["getCaller", ...requested.flatMap(operationsOf)]);
}

function operationsOf({ list, writeRoutes }: Kind): readonly OperationName[] {
  const writes = writeRoutes.map(({ operation: name }) => name);
  return list === undefined ? writes : [list.operation, ...writes];
}
