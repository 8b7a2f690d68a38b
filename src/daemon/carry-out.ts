import { HoldfastError } from "../core/errors.ts";
import { decisionsAt, type Hold, isStage, withHold, withoutHold } from "../core/holds.ts";
import type { PassResult } from "../core/report/events.ts";
import { withBegun } from "../core/stages/target-progress.ts";
import type { Leader } from "../engine/lease/leader.ts";
import { type Mode, reconcile } from "../engine/reconcile.ts";
import type { Run } from "../engine/run.ts";
import type { Target } from "../engine/target.ts";
import type { TargetState } from "../state/state.ts";
import type { TargetStore } from "../state/target-store.ts";
import type { DaemonCommand } from "./control-socket.ts";
import type { PassQueue } from "./pass-queue.ts";
import { recordForced } from "./pass-recorder.ts";
import { inTurn } from "./turn.ts";

/** A target that a daemon watches, with what orders its passes. */
export type WatchedTarget = {
  readonly name: string;
  readonly target: Target;
  /** Null where each pass takes its own right to write. */
  readonly leader: Leader | null;
  readonly queue: PassQueue;
};

/** Runs a command on a target of the daemon, between two of its passes; a pass follows. */
export async function carryOut(
  command: DaemonCommand,
  watched: WatchedTarget,
  run: Omit<Run, "emit">,
): Promise<unknown> {
  const { target } = watched;
  requireLeader(watched);
  switch (command.is) {
    case "hold":
      await addHold(command.hold, target.state, run.clock.now());
      request(watched);
      return true;
    case "release": {
      const wasHeld = await endHold(command.what, target.state, run.clock.now());
      request(watched);
      return wasHeld;
    }
    case "adopt": {
      const { identities } = command;
      return passOf({ is: "adopt", identities: identities && new Set(identities) }, watched, run);
    }
    case "forget":
      return passOf({ is: "forget", identities: command.identities }, watched, run);
    case "resolve": {
      const { identities, as } = command;
      return passOf({ is: "resolve", identities, as, confirm: async () => true }, watched, run);
    }
    case "redeploy": {
      const { identities, force, isForced } = command;
      const { leader } = watched;
      const startedAt = run.clock.now();
      const end = await passOf({ is: "redeploy", identities, force, isForced, leader }, watched, run);
      await recordForced(end, watched.target, { startedAt, endedAt: run.clock.now() });
      // JSON has no maps.
      return end.what === "applied" ? { ...end, places: [...end.places] } : end;
    }
  }
}

/** Stores a hold. */
export async function addHold(hold: Hold, { target }: TargetState, now: number): Promise<void> {
  await (await target()).decide((decisions) => withHold(decisionsAt(decisions, now), hold));
}

/** Ends a hold, or releases a commit; returns whether there was a hold. */
export async function endHold(what: string, state: TargetState, now: number): Promise<boolean> {
  const store = await state.target();
  const { before, after } = await store.decide((decisions) => withoutHold(decisionsAt(decisions, now), what));
  const wasHeld = after.holds.length < decisionsAt(before, now).holds.length;
  return wasHeld || (isStage(what) && (await giveBackPlace(store, state)));
}

// A command that was killed keeps its place of `maxUpdate`. A process that may be rolling out gives its place back itself.
async function giveBackPlace(store: TargetStore, { isLocked }: TargetState): Promise<boolean> {
  if ((await store.progress()).begun === null || (await isLocked())) return false;
  await store.advance((progress) => withBegun(progress, null));
  return true;
}

// A command sent to a standby would not reach the process that writes.
function requireLeader({ leader }: WatchedTarget): void {
  const holder = leader?.standsBy() ?? null;
  if (holder === null) return;
  throw new HoldfastError("locked", `this daemon stands by: ${holder}`, {
    hint: "run the command where that process runs, with its state",
  });
}

// A pass on another machine ends soon: the command has asked for one.
const FLEET_TURN = { waitMs: 60_000, reading: () => Promise.resolve() };

async function passOf(mode: Mode, watched: WatchedTarget, run: Omit<Run, "emit">): Promise<PassResult> {
  // What is asked for ends a pass that waits for rollouts, so that the command runs soon.
  request(watched);
  const { target, queue } = watched;
  const pass = (): Promise<PassResult> => reconcile(target, mode, { ...run, emit: () => undefined });
  return queue.between(watched.name, async () => {
    const end = await (queue.machine === null ? pass() : inTurn(target, FLEET_TURN, run, pass));
    request(watched);
    return end;
  });
}

function request({ name, queue }: WatchedTarget): void {
  queue.enqueue({ target: name, scope: "all", cause: "request" });
}
