import { knownInSync, resourcesToRead } from "../cache/known-in-sync.ts";
import type { LiveCache } from "../cache/live-facts-cache.ts";
import { liveToKeep } from "../cache/live-to-keep.ts";
import type { Reader } from "../client/reader.ts";
import type { RouteProbe } from "../client/route-probe.ts";
import type { Clock } from "../clock/clock.ts";
import type { OperationName } from "../contract/operations.ts";
import type { Access } from "../core/access.ts";
import type { DryRunReply } from "../core/decide/decision.ts";
import type { Diagnostic } from "../core/diagnostic.ts";
import { isActedOn } from "../core/diff/field-cause.ts";
import type { ShrinkLimits } from "../core/guards/mass-change-guards.ts";
import type { PlanGuards } from "../core/guards/step-guards.ts";
import { type IgnoreRule, type RuleFinder, ruleFinder } from "../core/ignore/ignore-rules.ts";
import type { Kind, Kinds } from "../core/kind.ts";
import type { Identity } from "../core/manifest.ts";
import { type MissingExtension, missingExtensions } from "../core/missing-extensions.ts";
import { type BlockedManifest, type BlockedStep, blockedSteps } from "../core/plan/blocked-steps.ts";
import { makePlan, withBlockDiagnostics, withNotChecked } from "../core/plan/make-plan.ts";
import { knownIn } from "../core/plan/orphans.ts";
import { writes } from "../core/plan/plan.ts";
import type { PlanInput, PlanWithDecisions } from "../core/plan/plan-input.ts";
import { sightOf } from "../core/sight.ts";
import { locateFields, readManifests } from "../manifests/read-manifests.ts";
import { isParsed } from "../manifests/source-manifest.ts";
import { pacer } from "../source/pacer.ts";
import type { Ledger, ReceiptHead } from "../state/ledger.ts";
import type { KnownServer } from "./known-server.ts";
import type { Desired } from "./load/desired.ts";
import { createDryRun } from "./observe/dry-run.ts";
import { concluded, guardLive, withoutStale } from "./observe/judge-live.ts";
import { liveQueries } from "./observe/live-queries.ts";
import { readCaller } from "./observe/read-caller.ts";
import { type Observation, type ObserveContext, observe, type WavedSource } from "./observe/read-live.ts";
import { elsewhereOf, orphansIn, type RemovedFromSource, removedFromSource } from "./observe/removed-manifests.ts";
import { withTakenNames } from "./observe/taken-names.ts";
import { askAboutOrphans, withAnswers } from "./plan/ask-about-orphans.ts";
import { type FoundOwnContent, findOwnContent, NOTHING_OWN } from "./plan/find-own-content.ts";
import { type PreflightContext, preflight, proveDryRun, withExisting } from "./plan/preflight.ts";

/** The context for planning against live. */
export type PlanContext = {
  /** Name of the server in reports. */
  readonly server: string;
  readonly reader: Reader;
  readonly probeRoute: RouteProbe;
  readonly serverFacts: KnownServer;
  /** Stores newly learned facts about the server. */
  readonly saveServerFacts: () => Promise<void>;
  readonly ledger: Pick<Ledger, "recorded" | "digest">;
  /** The unsealed part of every receipt. */
  readonly recorded: ReadonlyMap<Identity, ReceiptHead>;
  /** Keeps what the next pass need not read again; null where everything must be read. */
  readonly cache: LiveCache | null;
  /** Whether each resource is read by itself instead of whole lists, since few are requested. @default false */
  readonly readsEach?: boolean;
  /** Kinds that are listed whatever is declared. @default none */
  readonly alsoListed?: readonly Kind[];
  /** Whether the plan shows resources that the source no longer declares. @default true */
  readonly seeksOrphans?: boolean;
  /** Whether resources that equal their manifests are to be recorded. */
  readonly records: boolean;
  readonly kinds: Kinds;
  readonly ignore: readonly IgnoreRule[];
  readonly hasSink: boolean;
  /** How many recorded resources may be missing from live at once; no limit where it is left out. */
  readonly liveLimits?: ShrinkLimits;
  /** Guards that block steps when no user approves the plan; null with an approval, or when nothing is written. */
  readonly guards: PlanGuards | null;
  /** Whether creates are dry-run. */
  readonly creates: PreflightContext["creates"];
  readonly concurrency: number;
  /** Subjects whose writes count as this repository's own. */
  readonly writers: readonly string[];
  readonly clock: Clock;
  /** A stop request; ends reading and planning immediately. */
  readonly stopping: AbortSignal;
};

/** A plan with the live state that it is based on. */
export type LivePlan = PlanWithDecisions & {
  /** The causes of the blocked steps. */
  readonly blocked: readonly BlockedStep[];
  readonly observation: Observation;
  readonly desired: Desired;
  /** The manifests in order, read where they are not in sync. */
  readonly waved: readonly WavedSource[];
  /** The ignore rules in force. */
  readonly rulesFor: RuleFinder;
  /** Unrecorded resources that are this repository's own. */
  readonly own: FoundOwnContent["own"];
  readonly orphans: PlanInput["orphans"];
  readonly removed: PlanInput["removed"];
  readonly elsewhere: PlanInput["elsewhere"];
  /** How far back the history was read for orphans; null where it was not read. */
  readonly reach: RemovedFromSource["reach"];
  readonly dryRuns: ReadonlyMap<Identity, DryRunReply>;
  /** Every receipt, opened where a decision depends on it. */
  readonly recorded: ReadonlyMap<Identity, ReceiptHead>;
  /** Extensions that the kinds of this plan could use and the control plane lacks. */
  readonly notUsed: readonly MissingExtension[];
  /** The subject and permissions of the token; null where the control plane does not report them. */
  readonly access: Access | null;
};

/** Reads live and plans; cannot change a control plane. */
export async function planAgainstLive(declared: Desired, context: PlanContext): Promise<LivePlan> {
  const { stopping: signal } = context;
  const dryRun = createDryRun(context);
  const cached = context.cache?.load(context.recorded) ?? null;
  const orphans = orphansIn(declared, context);
  const { removed, reach } = await removedFromSource(declared, context.recorded, { ...context, orphans });
  const alsoRead = removed.keys();
  const toRead = cached && resourcesToRead(cached, { ...context, manifests: declared.manifests, alsoRead });
  const started = await withValues(declared, (identity) => toRead?.has(identity) ?? true, context);
  const inSyncByCache = cached && toRead && knownInSync(cached, toRead, { ...context, manifests: started.manifests });
  const observing: ObserveContext = { ...context, dryRun, known: inSyncByCache, signal };
  const compared = { base: started.base, applied: atRefOf(started, context), recorded: context.recorded, removed };
  const mayBeOrphans = orphans === "none" ? [] : knownIn(compared);
  const queries = liveQueries(started, withWaves(started), { ...context, mayBeOrphans });
  const [access, seen] = await Promise.all([readCaller(observing), observe(queries, observing)]);
  const sight = sightOf(access);
  const observed = withoutStale(concluded(seen, seen.dryRuns, sight, context), started, context);
  guardLive(observed, started, context);
  const named = await withTakenNames(queries, observed, observing);
  let read = await readUndecided(named, started, context);
  const unclear: Diagnostic[] = [];
  const missing = () =>
    context.serverFacts.missing(["getCaller", ...queries.flatMap(({ kind }) => operationsOf(kind))]);
  let known: FoundOwnContent = NOTHING_OWN;
  const elsewhere = await elsewhereOf(mayBeOrphans, { ...started, live: named.live });
  let observation = named;
  const input = (dryRuns: ReadonlyMap<Identity, DryRunReply>): PlanInput => ({
    ...context,
    ...read.desired,
    desired: read.waved,
    live: concluded(observation, dryRuns, sight, context).live,
    inSync: observation.inSync,
    recorded: read.recorded,
    dryRuns,
    rulesFor: read.rulesFor,
    base: started.base,
    applied: compared.applied,
    own: known.own,
    removed,
    elsewhere,
    writers: writersOf(context),
    sight,
    now: context.clock.now(),
    complete: observation.complete && unclear.length === 0,
    diagnostics: [...started.diagnostics, ...observation.diagnostics, ...unclear, ...known.warnings],
    orphans,
    outOfScope: started.outOfScope ?? 0,
    guards: null,
  });
  const first = makePlan(input(observation.dryRuns));
  const missingFirst = missing().length;
  const unchecked = { ...first, ...observation, waved: read.waved, answered: observation.dryRuns };
  const checking = { ...context, dryRun, unclear, signal, sight };
  const { dryRuns: tried, notChecked } = await preflight(unchecked, checking);
  const asked = { ...started, live: named.live, recorded: read.recorded, elsewhere, mayBeOrphans };
  const answers = await askAboutOrphans(asked, { ...checking, prove: async () => proveDryRun(unchecked, checking) });
  const answered = withAnswers(named, answers);
  const dryRuns = new Map([...answered.dryRuns, ...tried]);
  // Dry runs may have shown that something recorded is gone, and then no record is trusted.
  const { inSync } = withoutStale(concluded(answered, dryRuns, sight, context), started, context);
  observation = { ...answered, inSync };
  if (inSync.size < named.inSync.size) read = await readUndecided(observation, started, context);
  const { desired, waved, recorded, rulesFor } = read;
  const differing = waved.filter(({ manifest: { identity } }) => isUnrecorded(first, identity, recorded));
  const question = { differing, ...observation, dryRuns, rulesFor, writers: writersOf(context) };
  known = await findOwnContent(question, desired, context);
  // A probe may have shown that the server lacks an operation that the plan needs.
  const isFinal =
    tried.size + answers.dryRuns.size + unclear.length + known.own.size + known.warnings.length === 0 &&
    missing().length === missingFirst;
  // Guards come last, so that the steps they block are dry-run too.
  const guards = first.plan.steps.some(writes) ? context.guards : null;
  const final = isFinal && guards === null ? first : makePlan({ ...input(dryRuns), guards });
  const blocked = blockedSteps(await blockedIn(waved, final.decisions, context), final.decisions);
  const planned = withBlockDiagnostics(withNotChecked(final, notChecked), blocked);
  const livePlan = {
    ...planned,
    blocked,
    observation: withExisting(concluded(observation, dryRuns, sight, context), dryRuns),
    desired,
    waved,
    recorded,
    rulesFor,
    own: known.own,
    dryRuns,
    removed,
    elsewhere,
    orphans,
    reach,
    notUsed: missingExtensions(missing()),
    access,
  };
  await context.saveServerFacts();
  if (cached !== null && inSyncByCache !== null) {
    const next = liveToKeep(cached, inSyncByCache, { ...livePlan, manifests: desired.manifests });
    if (next !== null) context.cache?.save(next);
  }
  return livePlan;
}

type Undecided = Pick<LivePlan, "desired" | "waved" | "recorded" | "rulesFor">;

// What the decisions about resources that are not known to be in sync need.
async function readUndecided(observation: Observation, started: Desired, context: PlanContext): Promise<Undecided> {
  const desired = await withValues(started, (identity) => !observation.inSync.has(identity), context);
  const waved = withWaves(desired);
  const recorded = await openWhereRead(observation, context);
  return { desired, waved, recorded, rulesFor: await findRules(waved, observation, context) };
}

// The applied commit replaces records that are missing.
function atRefOf({ applied }: Desired, { recorded }: PlanContext): Desired["applied"] {
  return recorded.size === 0 ? applied : null;
}

// Only what differs and has no record is worth asking the history of the repository for.
function isUnrecorded(
  { decisions }: PlanWithDecisions,
  identity: Identity,
  recorded: ReadonlyMap<Identity, unknown>,
): boolean {
  return !recorded.has(identity) && (decisions.get(identity)?.differences ?? []).some(({ cause }) => isActedOn(cause));
}

function writersOf({ writers, serverFacts }: PlanContext): ReadonlySet<string> {
  return new Set([...writers, ...(serverFacts.subject === null ? [] : [serverFacts.subject])]);
}

async function blockedIn(
  waved: readonly WavedSource[],
  decisions: PlanWithDecisions["decisions"],
  { stopping }: PlanContext,
): Promise<readonly BlockedManifest[]> {
  const fields = waved.flatMap(({ manifest }) => {
    const decision = decisions.get(manifest.identity);
    return decision?.action === "block" ? [{ manifest, pointer: decision.pointer }] : [];
  });
  return locateFields(fields, { signal: stopping });
}

function withWaves({ manifests, waves }: Desired): readonly WavedSource[] {
  return manifests.map((manifest) => ({ manifest, wave: waves.get(manifest.identity) ?? 0 }));
}

// Resources in sync need no decision, so their manifests are not read.
async function withValues(
  desired: Desired,
  isNeeded: (identity: Identity) => boolean,
  { clock, stopping }: PlanContext,
): Promise<Desired> {
  const unread = desired.manifests.filter((manifest) => !isParsed(manifest) && isNeeded(manifest.identity));
  if (unread.length === 0) return desired;
  const read = await readManifests(unread, { clock, signal: stopping });
  const values = new Map(read.map((manifest) => [manifest.identity, manifest]));
  return { ...desired, manifests: desired.manifests.map((manifest) => values.get(manifest.identity) ?? manifest) };
}

// Rules are matched here, with pauses: planning is synchronous, and the repository decides how much its rules cost.
async function findRules(
  waved: readonly WavedSource[],
  { inSync }: Observation,
  context: PlanContext,
): Promise<RuleFinder> {
  const rulesFor = ruleFinder(context.ignore, new Date(context.clock.now()).toISOString().slice(0, 10));
  if (context.ignore.length === 0) return rulesFor;
  const pause = pacer({ clock: context.clock, signal: context.stopping });
  for (const { manifest } of waved) {
    if (!inSync.has(manifest.identity)) rulesFor(manifest.identity);
    const pausing = pause();
    if (pausing !== undefined) await pausing;
  }
  return rulesFor;
}

function operationsOf({ list, writeRoutes }: Kind): readonly OperationName[] {
  const writes = writeRoutes.map(({ operation: name }) => name);
  return list === undefined ? writes : [list.operation, ...writes];
}

// A resource in sync needs no decision, so its receipt stays sealed.
async function openWhereRead(
  { inSync }: Observation,
  { recorded, ledger }: PlanContext,
): Promise<ReadonlyMap<Identity, ReceiptHead>> {
  const read = recorded
    .keys()
    .filter((identity) => !inSync.has(identity))
    .toArray();
  if (read.length === 0) return recorded;
  const opened = await ledger.recorded(read);
  return new Map(recorded.entries().map(([identity, head]) => [identity, { ...head, ...opened.get(identity) }]));
}
