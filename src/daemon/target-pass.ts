import { ClientError } from "../client/client-error.ts";
import { errorMessage } from "../contract/error-message.ts";
import type { JsonObject } from "../contract/json.ts";
import { type FailureCode, HoldfastError } from "../core/errors.ts";
import { OTHER_WRITER } from "../core/guards/other-writer.ts";
import type { ApplyEvent, PassResult } from "../core/report/events.ts";
import { LEDGER_UNWRITABLE } from "../engine/apply/write-job.ts";
import type { Election, Leader } from "../engine/lease/leader.ts";
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
import {
  CutShortError,
  type DuePass,
  type PassCause,
  type PassJob,
  type PassQueue,
  waitAfterLoss,
} from "./pass-queue.ts";
import { unlessUnreadable } from "./pass-recorder.ts";
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
  readonly signal: AbortSignal;
  readonly onLeft: (work: Promise<void>) => void;
};

/** Runs a pass of a target, one after the other. */
export type TargetPass = (due: DuePass) => Promise<void>;

/** Creates the passes of a target: each reads the source, reconciles, and keeps what the next one must know. */
export function createPass(
  target: Target,
  context: RunContext,
  { follower: { follow, settled, setPaths }, leader, signal, onLeft }: PassOptions,
): TargetPass {
  const { name, isAlone, intervalMs, driftIntervalMs, queue, sync, isReloaded, memories, onFailure } = context;
  const { commits } = target.source;
  const { clock } = context;
  let defaultCause: PassCause = isReloaded ? "configuration" : "start";
  let hasWorked = isReloaded;
  const modeOf = (scope: PassScope, stopWaiting: AbortSignal): ApplyMode | PlanMode =>
    sync === "heal"
      ? { is: "apply", approve: null, signed: null, scope, leader, waiting: { stopWaiting, onLeft } }
      : { is: "plan", showServer: false, showUnmanaged: false, gate: null, signs: false };
  // Where passes are shared, another process may write the target before and after each of them.
  const isTakenOver = (error: unknown): boolean => leader === null && isLocked(error);
  const isFatal = (error: unknown): boolean => {
    const code = codeOf(error);
    return code === "locked" || (isAlone && !hasWorked && FATAL.includes(code) && !(error instanceof SourceError));
  };
  const passAgain = (cause: PassCause): void => queue.enqueue({ target: name, scope: "all", cause });
  // How often in a row a pass has lost the lease, and the next one that is due for it.
  let [losses, retry]: [number, Disposable | null] = [0, null];
  // What cannot be read again is never dropped.
  const release = commits === null ? null : () => target.sourceCache?.release();
  return async ({ job, stopWaiting, losses: earlierLosses }) => {
    const isTriedElsewhere = leader === null && earlierLosses < MOST_TRIES;
    retry?.[Symbol.dispose]();
    const startedAt = clock.now();
    const known = memories.take(name);
    let memory = known ?? { ...NO_MEMORY, lastApplied: null };
    // What was asked for may mean that the cause of a failed fetch is fixed, so the fetch backoff is skipped.
    if (job !== null) commits?.retryNow();
    const scope = job?.scope === "all" || isFullPassDue(memory, startedAt, driftIntervalMs) ? "all" : "changes";
    context.onPassBegin({ target: name, scope, cause: job?.cause ?? defaultCause });
    defaultCause = "interval";
    let applied: ApplyEvent | null = null;
    let isCutShort = false;
    let unreached: string | null = null;
    const emit: RunContext["emit"] = (event) => {
      if (isTriedElsewhere && event.what === "kept" && event.reason === "Unreachable") unreached = event.message;
      context.emit(event);
    };
    try {
      if (known === null) memory = { ...memory, ...(await unlessUnreadable(target.state, (store) => store.memory())) };
      if (known === null && leader === null) context.onRecall(memory.told);
      // Before the source is read, so that no change in a new folder is missed.
      await follow();
      await settled();
      const mode = modeOf(scope, stopWaiting);
      const run = { ...context, emit, stopping: signal };
      const ended = await reconcileAgain(target, mode, { memory, onRead: setPaths }, run);
      memory = ended.memory;
      applied = ended.result.what === "applied" ? ended.result : null;
      hasWorked = true;
      if (ended.result.what === "applied" || ended.result.what === "planned") context.onWorked();
      requireNoOtherWriter(ended.result);
      isCutShort = leader === null && hasLostItsRight(ended.result);
      if (isTriedElsewhere && wasUnreached(ended.result)) unreached = "the control plane could not be read";
      const isLost = leader?.isLost() ?? false;
      losses = isLost ? losses + 1 : 0;
      if (ended.result.what === "superseded" || losses === 1) passAgain("retry");
      else if (isLost)
        retry = clock.after(waitAfterLoss(losses - 1, intervalMs), () => passAgain("retry"), { ref: false });
    } catch (error) {
      if (signal.aborted || error instanceof RetiredError) return;
      if (isTakenOver(error)) throw error;
      if (isFatal(error)) {
        await context.onFatal(error, startedAt);
        throw error;
      }
      onFailure(error);
      isCutShort = leader === null && storeErrorCode(error) !== null;
      if (isTriedElsewhere && isOutOfReach(error)) unreached = errorMessage(error);
    }
    memories.keep(name, memory, release);
    // Another process may reach it. The target is only in trouble where that one, or this one again, does not either.
    if (unreached !== null && earlierLosses === 0) {
      context.onPassDropped();
      throw new CutShortError(unreached);
    }
    await target.order
      ?.observe({ commit: memory.lastApplied?.desired.revision ?? null, applied }, { clock, stopping: signal })
      .catch(onFailure);
    const endedAt = clock.now();
    const wanted = commits?.newest() ?? null;
    const { lastApplied: _, ...remembered } = memory;
    const claim = leader === null ? { claim: claimAfter(claimedBy(context), endedAt, intervalMs) } : {};
    const kept = { ...remembered, ...claim };
    const freezes = sync === "heal" ? target.freezes : undefined;
    const nextAt = Math.min(endedAt + intervalMs, askAtFreezeEnd(freezes, { clock, queue, target: name }));
    await context.onPassEnd({ startedAt, endedAt, nextAt, wanted }, kept).catch((error: unknown) => {
      if (isTakenOver(error)) throw error;
      onFailure(error);
    });
    // New paths were not watched while the pass ran.
    if (await follow()) passAgain("change");
    if (unreached !== null) throw new CutShortError(unreached);
    if (isCutShort) throw new CutShortError("the pass lost its lease or its database");
  };
}

// A clock that was set back says nothing of how long ago a pass was. Jitter can start a poll a tenth early.
function isFullPassDue({ lastFullPassAt }: PassMemory, now: number, driftIntervalMs: number): boolean {
  if (lastFullPassAt === null || lastFullPassAt > now) return true;
  return now - lastFullPassAt >= 0.9 * driftIntervalMs - 1;
}

// Whether another process may have taken over: what a pass has not sent for that is no failure of its own.
function hasLostItsRight(result: PassResult): boolean {
  if (result.what !== "applied") return false;
  return result.report.outcomes.some(({ error }) => error?.status === 412 || error?.code === LEDGER_UNWRITABLE);
}

// What no process reaches waits for the interval after so many passes.
const MOST_TRIES = 6;

const UNREACHED: readonly string[] = ["unreachable", "timeout", "connection-lost"];

// Whether nothing was sent, since live could not be read.
function wasUnreached(result: PassResult): boolean {
  if (result.what === "planned") return !result.plan.complete;
  if (result.what !== "applied") return false;
  return !result.plan.complete && result.report.outcomes.every(({ attempts }) => attempts === 0);
}

function isOutOfReach(error: unknown): boolean {
  if (error instanceof SourceError) return error.reason === "Unreachable";
  return error instanceof ClientError && UNREACHED.includes(error.reason);
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
export function claimedBy({ name, serverName, queue: { machine } }: RunContext): ClaimedTarget {
  return { name, serverName, machine };
}
