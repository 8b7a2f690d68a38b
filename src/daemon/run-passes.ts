import type { Random } from "../clock/random.ts";
import { errorMessage } from "../contract/error-message.ts";
import { HoldfastError } from "../core/errors.ts";
import type { Leader } from "../engine/lease/leader.ts";
import { requireOwnState } from "../engine/load/own-state.ts";
import type { Run } from "../engine/run.ts";
import type { LockState, Target, TargetConnection } from "../engine/target.ts";
import type { TargetClaim } from "../state/target-store.ts";
import { storeErrorCode } from "../store/store-error.ts";
import { createLeftRollouts, type LeftRollouts } from "./left-rollouts.ts";
import { NotNowError, type PassAgain } from "./pass-queue.ts";
import { followSource } from "./source-watcher.ts";
import { claimRefusal } from "./target-claim.ts";
import { claimedBy, codeOf, createPass, FATAL, type RunContext, type TargetPass } from "./target-pass.ts";
import { inTurn, isLocked } from "./turn.ts";

/** Reconciles a target on every change of its source and on an interval, until it is stopped. */
export async function runPasses(target: Target, context: RunContext): Promise<void> {
  const { name, intervalMs, queue, replaced, onFailure } = context;
  const ended = new AbortController();
  const signal = AbortSignal.any([context.stopping, ended.signal]);
  const follower = followSource(
    target,
    {
      clock: context.clock,
      onChange: () => queue.enqueue({ target: name, scope: "all", cause: "change" }),
      onTrouble: onFailure,
    },
    signal,
  );
  const leader = leaderOf(context, () => ended.abort());
  if (leader !== null && !(await isConnected(target, leader, context, signal))) return;
  await follower.follow();
  const rollouts = createLeftRollouts(onFailure, signal);
  const own = { ...context, stopping: signal };
  const pass = createPass(target, own, { follower, leader, rollouts });
  const inTurns = leader === null ? passInTurn(target, pass, { ...own, rollouts }) : pass;
  await queue.work(name, inTurns, {
    intervalMs,
    signal: AbortSignal.any([signal, replaced]),
    jitter: target.source.commits === null ? () => 1 : () => pollJitter(context.random),
  });
  ended.abort();
  await rollouts.ended();
}

/** Connects a target; false if it is stopped before. One of several is tried again when it is refused. */
async function isConnected(
  target: Target,
  leader: Leader,
  context: RunContext,
  stopping: AbortSignal,
): Promise<boolean> {
  const { clock, intervalMs, replaced, onFatal } = context;
  const signal = AbortSignal.any([stopping, replaced]);
  for (;;) {
    const startedAt = clock.now();
    try {
      await connectLeader(target, leader, { ...context, stopping });
      return true;
    } catch (error) {
      if (stopping.aborted) return false;
      if (!isFinal(error, context)) await refused(error, startedAt, context);
      else {
        await onFatal(error, startedAt);
        throw error;
      }
    }
    await clock.sleep(intervalMs, { signal }).catch(() => {});
    if (signal.aborted) return false;
  }
}

function isFinal(error: unknown, { isAlone }: RunContext): boolean {
  return isAlone || !FATAL.includes(codeOf(error));
}

// One of several targets is shown as Stalled, and tried again.
async function refused(error: unknown, startedAt: number, { onFailure, onFatal }: RunContext): Promise<void> {
  onFailure(error);
  await onFatal(error, startedAt);
}

function connectLeader(target: Target, leader: Leader, run: Run): Promise<TargetConnection> {
  const connect = async (lock: LockState): Promise<TargetConnection> => {
    await requireOwnState(target, run.stopping);
    return target.server.connect(target.rules(target.source.config.repository), lock);
  };
  return leader.connect(connect, run);
}

type OwnTurns = RunContext & { readonly rollouts: LeftRollouts };

/** A pass that takes the lock of the state for itself alone, since other processes run passes of the target too. */
function passInTurn(target: Target, pass: TargetPass, run: OwnTurns): TargetPass {
  // The number of the lock in the last pass of this process; null before. After another one, what it remembers is outdated.
  let last: number | null = null;
  // Why another configuration has the target; told once.
  let refusal: string | null = null;
  const isRefused = (claim: TargetClaim | undefined): boolean => {
    const found = claimRefusal(claim, claimedBy(run), run.clock.now());
    if (found === null) {
      refusal = null;
      return false;
    }
    const { error, sharesJobs } = found;
    // Like a process that stands by, it has nothing to do.
    run.onWorked();
    if (refusal !== error.message) run.onFailure(error);
    refusal = error.message;
    run.onPassDropped();
    // A process of the other configuration makes the pass.
    if (sharesJobs) throw new NotNowError(error.message);
    return true;
  };
  const turn = { waitMs: 0, reading: run.rollouts.ended };
  return async (due) => {
    const startedAt = run.clock.now();
    let isBegun = false;
    let again: PassAgain | null = null;
    try {
      again = await inTurn(target, turn, run, async ({ lock, session }) => {
        isBegun = true;
        const number = lock?.number ?? null;
        const isOwn = last !== null && number === last + 1;
        if (!isOwn) run.memories.forget(run.name);
        last = number;
        const { claim, settled } = await (await target.state.target()).memory();
        return isRefused(claim) ? null : pass(due, { claim, settled, lock: number, isOwn, requests: session.requests });
      });
    } catch (error) {
      const storage = storeErrorCode(error);
      if (storage === "newer-schema") throw outdated(error);
      if (isLocked(error) || storage !== null) {
        if (isBegun) run.onPassDropped();
        throw new NotNowError(errorMessage(error), { cause: error });
      }
      if (isBegun || run.stopping.aborted) throw error;
      if (isFinal(error, run)) {
        await run.onFatal(error, startedAt);
        throw error;
      }
      await refused(error, startedAt, run);
    }
    // What was stopped in the middle goes on elsewhere.
    if (run.stopping.aborted) throw new NotNowError("the process stops");
    return again;
  };
}

// The stored status belongs to the newer release now, so this one ends without a word in it.
function outdated(cause: unknown): HoldfastError {
  return new HoldfastError("error", errorMessage(cause), {
    hint: "run that release here too; where it runs already, the passes go on",
    cause,
  });
}

// A daemon that waits for a lease or a lock has written nothing and may wait forever, so a replacement ends it at once.
function leaderOf({ election, replaced, onTakeover, onWorked }: RunContext, end: () => void): Leader | null {
  if (election === null) return null;
  let isStandingBy = false;
  const endStandby = (): void => {
    if (isStandingBy && replaced.aborted) end();
  };
  replaced.addEventListener("abort", endStandby, { once: true });
  return election.leader((isBegun) => {
    isStandingBy = isBegun;
    if (isBegun) onWorked();
    else onTakeover();
    endStandby();
  });
}

// At most a tenth earlier or later than the interval.
const pollJitter = ({ next }: Random): number => 0.9 + next() * 0.2;
