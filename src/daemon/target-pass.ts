import { isOutOfReach } from "../client/client-error.ts";
import type { JsonObject } from "../contract/json.ts";
import { takePassCause, traced } from "../contract/trace.ts";
import { UNREACHED } from "../core/diagnostic.ts";
import { type FailureCode, HoldfastError } from "../core/errors.ts";
import { OTHER_WRITER } from "../core/guards/other-writer.ts";
import type { ApplyEvent, PassResult } from "../core/report/events.ts";
import { settledEvents } from "../core/report/settled-pass.ts";
import { LEDGER_UNWRITABLE } from "../engine/apply/write-job.ts";
import type { Election, Leader } from "../engine/lease/leader.ts";
import type { ReadMemory } from "../engine/load/pass-memory.ts";
import type { ApplyMode, PassScope } from "../engine/passes/apply-pass.ts";
import type { PlanMode } from "../engine/passes/plan-pass.ts";
import { reconcileAgain } from "../engine/reconcile.ts";
import type { Run } from "../engine/run.ts";
import type { Target } from "../engine/target.ts";
import { RetiredError, SourceError } from "../source/source-error.ts";
import { NO_MEMORY, type PassMemory } from "../state/target-store.ts";
import { storeErrorCode } from "../store/store-error.ts";
import type { PassTimes } from "./ended-pass.ts";
import { askAtFreezeEnd } from "./freeze-end.ts";
import type { KeptMemories } from "./kept-memories.ts";
import type { LeftRollouts } from "./left-rollouts.ts";
import {
  type DuePass,
  type PassAgain,
  type PassCause,
  type PassJob,
  type PassQueue,
  waitAfterLoss,
} from "./pass-queue.ts";
import { unlessUnreadable } from "./pass-recorder.ts";
import { recordPass, type SharedTurn, unchangedPass } from "./settled-pass.ts";
import type { SourceFollower } from "./source-watcher.ts";
import { type ClaimedTarget, claimAfter } from "./target-claim.ts";
import { isLocked } from "./turn.ts";

/** How often the passes of a target run, and whether they write, or only report what they would write. */
export type PassSchedule = {
  readonly sync: "heal" | "report";
  readonly intervalMs: number;
  /** The longest time between two full passes; the passes between them process only what the source has changed. */
  readonly driftIntervalMs: number;
};

/** The place of a configuration among those that a daemon has had. */
export type Succession = {
  /** Aborted when a changed configuration replaces this one: the target ends after the pass in progress. */
  readonly replaced: AbortSignal;
  /** Whether an earlier configuration was in force before this one; then no refusal ends the process. */
  readonly isReloaded: boolean;
  /** What the passes remember: they continue with what is there, and leave theirs. */
  readonly memories: KeptMemories;
};

/** How the passes of a target run. */
export type RunContext = Run &
  PassSchedule &
  Succession & {
    readonly name: string;
    /** The control plane, as the ledger names it. */
    readonly serverName: string;
    /** The digest of what the source is; null for a local folder. */
    readonly sourceDigest: string | null;
    /** A digest of what the passes are made with beside their source: the configuration and the program. */
    readonly settingsDigest: () => string;
    /** Whether it is the only target of the daemon; then a refusal before its first successful pass is for good. */
    readonly isAlone: boolean;
    readonly queue: PassQueue;
    /** The election that the targets of one control plane share; null where each pass takes its own right to write. */
    readonly election: Election | null;
    /** Called when the target takes over from the process that it stood by for. */
    readonly onTakeover: () => void;
    /** Called when a pass has worked: it has compared its source with live, or stands by. */
    readonly onWorked: () => void;
    /** Called when a pass fails; the next pass tries again. */
    readonly onFailure: (error: unknown) => void;
    /** Called before a pass with what was told of earlier ones, perhaps by another process; only where processes share the passes. */
    readonly onRecall: (told: JsonObject) => void;
    /** Called when a pass begins. */
    readonly onPassBegin: (job: PassJob) => void;
    /** Called after each pass, with what is kept of it; the next one waits for that. */
    readonly onPassEnd: (times: PassTimes & { readonly nextAt: number }, memory: PassMemory) => Promise<void>;
    /**
     * Called when a pass ends without `onPassEnd`: the target is another configuration's, another process has its lock, or the pass
     * is left to one that may reach more.
     */
    readonly onPassDropped: () => void;
    /** Called when the target fails for good, with the time when its pass, or the connection before the first one, began. */
    readonly onFatal: (error: unknown, startedAt: number) => Promise<void>;
  };

/** Refusals of a token or of a flag: before the first successful pass they end the daemon of a single target. */
export const FATAL: readonly FailureCode[] = ["unauthorized", "invalid"];

/** What the passes of a target share. */
export type PassOptions = {
  readonly follower: SourceFollower;
  /** Null where each pass takes its own right to write. */
  readonly leader: Leader | null;
  readonly rollouts: LeftRollouts;
};

/** Runs a pass of a target, one after the other; where processes share them, in a turn of its own. */
export type TargetPass = (due: DuePass, turn?: SharedTurn) => Promise<PassAgain | null>;

/** Creates the passes of a target: each reads the source, reconciles, and keeps what the next one must know. */
export function createPass(target: Target, context: RunContext, options: PassOptions): TargetPass {
  const { name, isReloaded, driftIntervalMs, intervalMs, memories, queue } = context;
  const { commits } = target.source;
  // What cannot be read again is never dropped.
  const release = commits === null ? null : () => target.sourceCache?.release();
  const course: Course = { defaultCause: isReloaded ? "configuration" : "start", hasWorked: isReloaded, kept: null };
  return async (due, turn) => {
    const startedAt = context.clock.now();
    const known = memories.take(name);
    // What was asked for may mean that the cause of a failed fetch is fixed, so the fetch backoff is skipped.
    if (due.job !== null) commits?.retryNow();
    const isFull = due.job?.scope === "all" || isFullPassDue(known, startedAt, driftIntervalMs);
    const scope = isFull ? "all" : "changes";
    target.server.actFor(due.job?.by ?? null);
    const cause = due.job?.cause ?? course.defaultCause;
    context.onPassBegin({ target: name, scope, cause });
    course.defaultCause = "interval";
    const start = {
      kind: "internal",
      attributes: { "holdfast.target": name, "holdfast.scope": scope, "holdfast.cause": cause },
      traceparent: takePassCause(name),
    } as const;
    const made = await traced("pass", start, () =>
      makePass(target, { ...due, known, scope, startedAt, turn }, course, { ...context, ...options }),
    );
    if (made === null) return null;
    memories.keep(name, made.memory, release);
    const again = againAfter(made.cut, due.losses, intervalMs);
    // Another process may reach it. The target is only in trouble where that one, or this one again, does not either.
    if (made.cut === "unreached" && due.losses === 0) {
      context.onPassDropped();
      return again;
    }
    await keepPass(target, { ...made, startedAt, claim: turn?.claim }, { ...context, ...options });
    // New paths were not watched while the pass ran.
    if (await options.follower.follow()) queue.enqueue({ target: name, scope: "all", cause: "change" });
    return again;
  };
}

/** What the passes of a target know of those before them, other than their memory. */
type Course = {
  defaultCause: PassCause;
  hasWorked: boolean;
  /** The commit of the last pass that was not made again, which this process has kept. */
  kept: string | null;
};

type BegunPass = DuePass & {
  /** What this process remembers of the pass before; null if its state must be read. */
  readonly known: ReadMemory | null;
  readonly scope: PassScope;
  readonly startedAt: number;
  readonly turn: SharedTurn | undefined;
};

/** A pass that has ended by itself. */
type MadePass = { readonly memory: ReadMemory; readonly applied: ApplyEvent | null; readonly cut: Cut | null };

/**
 * Why a pass could not read or send all that it wanted to, so that it is made again before its interval: another process was waited
 * for, it has lost its lease or its database, or its source or its control plane gave no answer.
 */
type Cut = "superseded" | "lost" | "unreached";

type PassContext = RunContext & PassOptions;

/** Reads the source and reconciles; null where the pass was stopped. Fails where the target does for good. */
async function makePass(
  target: Target,
  { known, scope, stopWaiting, startedAt, job, turn }: BegunPass,
  course: Course,
  context: PassContext,
): Promise<MadePass | null> {
  const { follower, leader, stopping } = context;
  let memory = known ?? { ...NO_MEMORY, lastApplied: null };
  let isSourceReached = true;
  const keepBegun = async (commit: string): Promise<void> => {
    if (commit === (memory.begunCommit ?? memory.appliedCommit)) return;
    memory = { ...memory, begunCommit: commit };
    await (await target.state.target()).keepBegun(commit);
  };
  try {
    if (known === null) memory = { ...memory, ...(await recalled(target, context)) };
    // Before the source is read, so that no change in a new folder is missed.
    await follower.follow();
    await follower.settled();
    const unchanged = turn === undefined ? null : await unchangedPass(target, turn, job, context);
    if (unchanged !== null) {
      for (const event of settledEvents(unchanged.end, turn?.isOwn === true)) context.emit(event);
      course.hasWorked = true;
      context.onWorked();
      const { commit } = unchanged;
      if (course.kept !== commit) await target.source.commits?.keep(commit);
      course.kept = commit;
      const remembered = { lastFullPassAt: startedAt, appliedCommit: commit, unfinished: [], settled: unchanged };
      return { memory: { ...memory, ...remembered }, applied: null, cut: null };
    }
    const recorded = turn === undefined ? null : recordPass(target, turn, startedAt);
    const emit: RunContext["emit"] = (event) => {
      if (event.what === "kept" && event.reason === "Unreachable") isSourceReached = false;
      // Whether an `ensure` writes anything is not known yet.
      if (event.what === "started" && event.step.action !== "ensure") context.rollouts.supersede(event.step.identity);
      recorded?.onEvent(event);
      context.emit(event);
    };
    const daemon = { memory, onRead: follower.setPaths, onWrites: keepBegun };
    const made = recorded?.target ?? target;
    const { result, ...ended } = await reconcileAgain(made, modeOf(scope, stopWaiting, context), daemon, {
      ...context,
      emit,
    });
    memory = ended.memory;
    course.hasWorked = true;
    if (result.what === "applied" || result.what === "planned") context.onWorked();
    const settled = (await recorded?.settled(result, context)) ?? null;
    if (settled !== null) memory = { ...memory, settled };
    requireNoOtherWriter(result);
    const cut = cutIn(result, leader) ?? (isSourceReached || leader !== null ? null : "unreached");
    return { memory, applied: result.what === "applied" ? result : null, cut };
  } catch (error) {
    if (stopping.aborted || error instanceof RetiredError) return null;
    if (isTakenOver(error, context)) throw error;
    if (isFatal(error, course, context)) {
      await context.onFatal(error, startedAt);
      throw error;
    }
    context.onFailure(error);
    return { memory, applied: null, cut: leader === null ? cutBy(error) : null };
  }
}

// What was told of earlier passes is only another process's where processes share the passes.
async function recalled(target: Target, { leader, onRecall }: PassContext): Promise<PassMemory> {
  const memory = (await unlessUnreadable(target.state, (store) => store.memory())) ?? NO_MEMORY;
  if (leader === null) onRecall(memory.told);
  return memory;
}

function modeOf(
  scope: PassScope,
  stopWaiting: AbortSignal,
  { sync, leader, rollouts }: PassContext,
): ApplyMode | PlanMode {
  return sync === "heal"
    ? { is: "apply", approve: null, signed: null, scope, leader, waiting: { stopWaiting, onLeft: rollouts.add } }
    : { is: "plan", showServer: false, showUnmanaged: false, showFingerprints: false, gate: null, signs: false };
}

// Where passes are shared, another process may write the target before and after each of them, also one of a newer release.
function isTakenOver(error: unknown, { leader }: PassContext): boolean {
  return leader === null && (isLocked(error) || storeErrorCode(error) === "newer-schema");
}

function isFatal(error: unknown, { hasWorked }: Course, { isAlone }: PassContext): boolean {
  const code = codeOf(error);
  return code === "locked" || (isAlone && !hasWorked && FATAL.includes(code) && !(error instanceof SourceError));
}

type KeptPass = MadePass & Pick<BegunPass, "startedAt"> & Pick<SharedTurn, "claim">;

/** Keeps what was made, and what the next pass must know. */
async function keepPass(
  target: Target,
  { memory, applied, startedAt, claim: before }: KeptPass,
  context: PassContext,
): Promise<void> {
  const { name, clock, intervalMs, leader, queue, stopping, sync, onFailure } = context;
  await target.order
    ?.observe({ commit: memory.lastApplied?.desired.revision ?? null, applied }, { clock, stopping })
    .catch(onFailure);
  const endedAt = clock.now();
  const wanted = target.source.commits?.newest() ?? null;
  const { lastApplied: _, ...remembered } = memory;
  const claim = leader === null ? { claim: claimAfter(claimedBy(context), before, endedAt, intervalMs) } : {};
  const freezes = sync === "heal" ? target.freezes : undefined;
  const nextAt = Math.min(endedAt + intervalMs, askAtFreezeEnd(freezes, { clock, queue, target: name }));
  await context
    .onPassEnd({ startedAt, endedAt, nextAt, wanted }, { ...remembered, ...claim })
    .catch((error: unknown) => {
      if (isTakenOver(error, context)) throw error;
      onFailure(error);
    });
}

// What no process reaches waits for the interval after so many passes.
const MOST_TRIES = 6;

function againAfter(cut: Cut | null, losses: number, intervalMs: number): PassAgain | null {
  if (cut === null || (cut === "unreached" && losses >= MOST_TRIES)) return null;
  if (cut === "superseded") return { afterMs: 0, losses: 0 };
  return { afterMs: waitAfterLoss(losses + 1, intervalMs), losses: losses + 1 };
}

// A clock that was set back says nothing of how long ago a pass was. Jitter can start a poll a tenth early.
function isFullPassDue(known: ReadMemory | null, now: number, driftIntervalMs: number): boolean {
  const lastFullPassAt = known?.lastFullPassAt ?? null;
  if (lastFullPassAt === null || lastFullPassAt > now) return true;
  return now - lastFullPassAt >= 0.9 * driftIntervalMs - 1;
}

function cutIn(result: PassResult, leader: Leader | null): Cut | null {
  if (leader !== null) return result.what === "superseded" ? "superseded" : leader.isLost() ? "lost" : null;
  if (hasLostItsRight(result)) return "lost";
  return wasUnreached(result) ? "unreached" : null;
}

function cutBy(error: unknown): Cut | null {
  if (storeErrorCode(error) !== null) return "lost";
  return isUnreached(error) ? "unreached" : null;
}

// Whether another process may have taken over: what a pass has not sent for that is no failure of its own.
function hasLostItsRight(result: PassResult): boolean {
  if (result.what !== "applied") return false;
  return result.report.outcomes.some(({ error }) => error?.status === 412 || error?.code === LEDGER_UNWRITABLE);
}

// Whether nothing was sent, since the control plane did not answer.
function wasUnreached(result: PassResult): boolean {
  if (result.what !== "planned" && result.what !== "applied") return false;
  if (!result.plan.diagnostics.some(({ code }) => code === UNREACHED)) return false;
  return result.what === "planned" || result.report.outcomes.every(({ attempts }) => attempts === 0);
}

function isUnreached(error: unknown): boolean {
  return error instanceof SourceError ? error.reason === "Unreachable" : isOutOfReach(error);
}

function requireNoOtherWriter(result: PassResult): void {
  if (result.what !== "applied" || !result.report.outcomes.some(({ error }) => error?.code === OTHER_WRITER)) return;
  throw new HoldfastError(
    "locked",
    "another writer is at work, and this control plane has no leases to keep it apart",
    {
      hint: "stop one of them, or let both use one state",
    },
  );
}

/** The code of a failure; `error` for one without a code. */
export function codeOf(error: unknown): FailureCode {
  return error instanceof HoldfastError ? error.code : "error";
}

/** The target as another configuration in the same database would find it. */
export function claimedBy({ name, serverName, sourceDigest, queue: { machine } }: RunContext): ClaimedTarget {
  return { name, serverName, sourceDigest, machine };
}
