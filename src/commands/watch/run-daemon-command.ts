import { HoldfastError } from "../../core/errors.ts";
import { decisionsAt, withHold } from "../../core/holds.ts";
import type { PassEnd } from "../../core/report/events.ts";
import type { DaemonCommand } from "../../daemon/control-socket.ts";
import { type Mode, reconcile } from "../../engine/reconcile.ts";
import { endHold } from "../release.ts";
import type { Terminal } from "../terminal.ts";
import type { WatchedTarget } from "./watched-target.ts";

/** Runs a command on a target of the daemon, between two of its passes; a pass follows. */
export async function runDaemonCommand(
  command: DaemonCommand,
  watched: WatchedTarget,
  terminal: Terminal,
): Promise<unknown> {
  const { target, trigger } = watched;
  requireLeader(watched);
  switch (command.is) {
    case "hold":
      await (await target.state.target()).decide((decisions) =>
        withHold(decisionsAt(decisions, terminal.clock.now()), command.hold),
      );
      trigger.fire("request");
      return true;
    case "release": {
      const wasHeld = await endHold(command.what, target.state, terminal.clock.now());
      trigger.fire("request");
      return wasHeld;
    }
    case "adopt": {
      const { identities } = command;
      return passOf({ is: "adopt", identities: identities && new Set(identities) }, watched, terminal);
    }
    case "forget":
      return passOf({ is: "forget", identities: command.identities }, watched, terminal);
    case "resolve": {
      const { identities, as } = command;
      return passOf({ is: "resolve", identities, as, confirm: async () => true }, watched, terminal);
    }
    case "redeploy": {
      const { identities, force } = command;
      const { leader } = watched;
      const end = await passOf({ is: "redeploy", identities, force, leader }, watched, terminal);
      // JSON has no maps.
      return end.what === "applied" ? { ...end, places: [...end.places] } : end;
    }
  }
}

// A command sent to a standby would not reach the process that writes.
function requireLeader({ leader }: WatchedTarget): void {
  const holder = leader.standsBy();
  if (holder === null) return;
  throw new HoldfastError("locked", `this daemon stands by: ${holder}`, {
    hint: "run the command with the state folder of that process",
  });
}

async function passOf(mode: Mode, { target, trigger, passQueue }: WatchedTarget, terminal: Terminal): Promise<PassEnd> {
  // The trigger ends a pass that waits for rollouts, so that the command runs soon.
  trigger.fire("request");
  return passQueue.add(async () => {
    const { clock, random, stopping, signal } = terminal;
    const end = await reconcile(target, mode, { clock, random, stopping, signal, emit: () => undefined });
    trigger.fire("request");
    return end;
  });
}
