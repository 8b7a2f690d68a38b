import { HoldfastError } from "../core/errors.ts";
import { decisionsAt, type Hold, holdsAt, isStage, withHold, withoutHold } from "../core/holds.ts";
import type { ApplyEvent, PassResult } from "../core/report/events.ts";
import { withBegun } from "../core/stages/target-progress.ts";
import type { Leader } from "../engine/lease/leader.ts";
import { type Mode, reconcile } from "../engine/reconcile.ts";
import type { Run } from "../engine/run.ts";
import type { Target } from "../engine/target.ts";
import type { TargetState } from "../state/state.ts";
import type { TargetStore } from "../state/target-store.ts";
import type { TargetCommand } from "./control-socket.ts";
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

/** What became of a command: whether it changed something, or the end of its pass in a form that JSON has. */
export type CarriedOut =
  | boolean
  | Exclude<PassResult, ApplyEvent>
  | (Omit<ApplyEvent, "places"> & { readonly places: readonly unknown[] });

/** Runs a command on a target of the daemon, between two of its passes; a pass follows. */
export async function carryOut(
  command: TargetCommand,
  watched: WatchedTarget,
  run: Omit<Run, "emit">,
): Promise<CarriedOut> {
  const { target } = watched;
  const { by } = command;
  requireLeader(watched);
  switch (command.is) {
    case "reconcile":
      request(watched, by);
      return true;
    case "hold":
      await addHold(command.hold, target.state, run.clock.now());
      request(watched, by);
      return true;
    case "release": {
      const wasHeld = await endHold(command.what, target.state, run.clock.now());
      request(watched, by);
      return wasHeld;
    }
    case "adopt": {
      const { identities } = command;
      return inJson(
        await passOf({ is: "adopt", identities: identities && new Set(identities) }, { ...watched, by }, run),
      );
    }
    case "forget":
      return inJson(await passOf({ is: "forget", identities: command.identities }, { ...watched, by }, run));
    case "resolve": {
      const { identities, as } = command;
      return inJson(
        await passOf({ is: "resolve", identities, as, confirm: async () => true }, { ...watched, by }, run),
      );
    }
    case "redeploy": {
      const { identities, force, isForced, allowedPolicies = [] } = command;
      const { leader } = watched;
      const startedAt = run.clock.now();
      const mode = { is: "redeploy", identities, force, isForced, allowedPolicies, leader } as const;
      const end = await passOf(mode, { ...watched, by }, run);
      await recordForced(end, watched.target, { startedAt, endedAt: run.clock.now() });
      return inJson(end);
    }
  }
}

// JSON has no maps.
function inJson(end: PassResult): CarriedOut {
  return end.what === "applied" ? { ...end, places: [...end.places] } : end;
}

/** Stores a hold. */
export async function addHold(hold: Hold, { target }: TargetState, now: number): Promise<void> {
  await (await target()).decide((decisions) => withHold(decisionsAt(decisions, now), hold));
}

/** Ends a hold, or releases a commit; returns whether there was a hold. */
export async function endHold(what: string, state: TargetState, now: number): Promise<boolean> {
  const store = await state.target();
  const { before, after } = await store.decide((decisions) => withoutHold(decisionsAt(decisions, now), what));
  const wasHeld = holdsAt(after, now).length < holdsAt(before, now).length;
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

type AskedTarget = WatchedTarget & { readonly by: string | undefined };

async function passOf(mode: Mode, watched: AskedTarget, run: Omit<Run, "emit">): Promise<PassResult> {
  // What is asked for ends a pass that waits for rollouts, so that the command runs soon.
  const { target, queue, by } = watched;
  request(watched, by);
  const pass = (): Promise<PassResult> => reconcile(target, mode, { ...run, emit: () => undefined });
  return queue.between(watched.name, async () => {
    target.server.actFor(by ?? null);
    const end = await (queue.machine === null ? pass() : inTurn(target, FLEET_TURN, run, pass));
    request(watched, by);
    return end;
  });
}

function request({ name, queue }: WatchedTarget, by?: string): void {
  queue.enqueue({ target: name, scope: "all", cause: "request", ...(by === undefined ? {} : { by }) });
}
