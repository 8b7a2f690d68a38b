import type PQueue from "p-queue";
import { type FailureCode, HoldfastError } from "../core/errors.ts";
import { OTHER_WRITER } from "../core/guards/other-writer.ts";
import type { PassEnd, PassEvent } from "../core/report/events.ts";
import type { LastGood } from "../engine/desired/last-good-revision.ts";
import { requireOwnState } from "../engine/desired/own-state.ts";
import type { Leader } from "../engine/lease/leader.ts";
import type { PassContext } from "../engine/pass.ts";
import type { PassScope } from "../engine/passes/apply-pass.ts";
import { type Mode, reconcile } from "../engine/reconcile.ts";
import type { LockState, Target, TargetConnection } from "../engine/target.ts";
import { SourceError } from "../source/source-error.ts";
import { loop, type PassCause, type Trigger } from "./loop.ts";
import { createSourceWatcher } from "./source-watcher.ts";
import type { PassTimes } from "./status-after-pass.ts";

/** How a daemon runs. */
export type DaemonContext = PassContext & {
  readonly intervalMs: number;
  /** The longest time between two looks at everything; between them a pass is about what the source has changed. */
  readonly driftIntervalMs: number;
  /** Ends it after the pass in flight, so that another one goes on by another configuration. */
  readonly replaced: AbortSignal;
  /** Whether one ran before it by an earlier configuration: then no refusal ends the process. */
  readonly isReloaded: boolean;
  /** Asks for a pass before the interval is over. */
  readonly trigger: Trigger;
  /** Waits until nothing else works on the target. */
  readonly passQueue: PQueue;
  /** Of the targets of one control plane, whoever may write. */
  readonly leader: Leader;
  /** Whether it writes, or reports alone what it would write. */
  readonly sync: "heal" | "report";
  /** Told of a pass that failed; the next one looks again. */
  readonly onFailure: (error: unknown) => void;
  /** Told what makes a pass begin. */
  readonly onPassBegin: (cause: PassCause) => void;
  /** Called after each pass; the next one waits for it. */
  readonly onPassEnd: (pass: PassTimes) => Promise<void>;
};

// Only a token, or a flag, that is refused from the beginning ends it.
const REFUSED: readonly FailureCode[] = ["unauthorized", "invalid"];

/** Reconciles a target on every change of its source, and on an interval, until it is asked to stop. */
export async function runDaemon(target: Target, context: DaemonContext): Promise<void> {
  const { intervalMs, driftIntervalMs, trigger, passQueue, leader, sync, replaced, onFailure } = context;
  const ended = new AbortController();
  const signal = AbortSignal.any([context.stopping, ended.signal]);
  let isStandingBy = false;
  // A daemon that waits for a lease or a lock has written nothing, and may wait for ever.
  const endStandby = (): void => {
    if (isStandingBy && replaced.aborted) ended.abort();
  };
  replaced.addEventListener("abort", endStandby, { once: true });
  const { source, state } = target;
  const left = new Set<Promise<void>>();
  const places = {
    root: source.root,
    ignore: [state.folder],
    onChange: () => trigger.fire("change"),
    onTrouble: onFailure,
    watchesCommits: target.rules(source.config.repository).ref !== null,
  };
  const watcher = createSourceWatcher(places, { signal });
  let paths = source.config.repository.paths ?? null;
  const follow = async (): Promise<boolean> => source.commits === null && (await watcher.follow(paths));
  const emit = (event: PassEvent): void => {
    if (event.what === "read") paths = event.paths;
    if (event.what === "standing-by" || event.what === "taking-over") isStandingBy = event.what === "standing-by";
    context.emit(event);
    endStandby();
  };
  const connect = async (lock: LockState): Promise<TargetConnection> => {
    await requireOwnState(target, signal);
    return target.server.connect(target.rules(source.config.repository), lock);
  };
  try {
    await leader.connect(connect, { emit, stopping: signal });
  } catch (error) {
    if (signal.aborted) return;
    throw error;
  }
  await follow();
  const onLeftFailure = (error: unknown): void => {
    if (!signal.aborted) onFailure(error);
  };
  const onLeft = (work: Promise<void>): void => {
    const over = work.catch(onLeftFailure).finally(() => left.delete(over));
    left.add(over);
  };
  const lastGood: LastGood = { read: null, undone: null };
  let lastFullPassAt = Number.NEGATIVE_INFINITY;
  let usual: PassCause = context.isReloaded ? "configuration" : "start";
  let hasWorked = context.isReloaded;
  const pass = async ({ stopWaiting }: { readonly stopWaiting: AbortSignal }): Promise<void> => {
    const startedAt = context.now();
    const cause = trigger.takeCause();
    // Whoever asks for a pass may have mended what failed.
    if (cause !== null) source.commits?.retryNow();
    context.onPassBegin(cause ?? usual);
    usual = "interval";
    const begunAt = performance.now();
    // By a clock that nobody sets; a poll comes up to a tenth early.
    const isDue = begunAt - lastFullPassAt >= 0.9 * driftIntervalMs - 1;
    const scope: PassScope = trigger.takeScope() === "all" || isDue ? "all" : "changes";
    try {
      // Before it is read, so that no change of another folder goes unseen.
      await follow();
      const mode: Mode =
        sync === "heal"
          ? { is: "apply", approve: null, sealed: null, lastGood, scope, leader, waiting: { stopWaiting, onLeft } }
          : { is: "plan", showServer: false, showUnmanaged: false, gate: null, seals: false, lastGood };
      const end = await reconcile(target, mode, { ...context, stopping: signal, emit });
      hasWorked = true;
      if (scope === "all") lastFullPassAt = begunAt;
      requireNoOtherWriter(end);
      if (end.what === "superseded" || leader.isLost()) trigger.fire("retry");
    } catch (error) {
      if (signal.aborted) return;
      const { code } = error instanceof HoldfastError ? error : { code: "error" as const };
      const isFinal = !hasWorked && REFUSED.includes(code) && !(error instanceof SourceError);
      if (code === "locked" || isFinal) throw error;
      onFailure(error);
    }
    const endedAt = context.now();
    const wanted = source.commits?.newest() ?? null;
    await context.onPassEnd({ startedAt, endedAt, nextAt: endedAt + intervalMs, wanted }).catch(onFailure);
    // Paths that are new were not watched while the pass ran.
    if (await follow()) trigger.fire("change");
  };
  const untilReplaced = AbortSignal.any([signal, replaced]);
  await loop((due) => passQueue.add(() => pass(due)), {
    trigger,
    intervalMs,
    signal: untilReplaced,
    jitter: source.commits === null ? () => 1 : pollJitter,
  });
  ended.abort();
  await Promise.all(left);
}

// Never later than a tenth beyond the interval.
const pollJitter = (): number => 0.9 + Math.random() * 0.2;

function requireNoOtherWriter(end: PassEnd): void {
  if (end.what !== "applied" || !end.report.outcomes.some(({ error }) => error?.code === OTHER_WRITER)) return;
  throw new HoldfastError(
    "locked",
    "another writer is at work, and this control plane has no leases to keep it apart",
    {
      hint: "stop one of them, or let both use one state folder",
    },
  );
}
