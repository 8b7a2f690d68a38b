import { errorMessage } from "../../contract/error-message.ts";
import { HoldfastError } from "../../core/errors.ts";
import { decisionsAt, withHold } from "../../core/holds.ts";
import type { PassEnd } from "../../core/report/events.ts";
import { runWarning } from "../../core/run-warning.ts";
import { type DaemonCommand, type DaemonControl, serveControl } from "../../daemon/control-socket.ts";
import { type Mode, reconcile } from "../../engine/reconcile.ts";
import type { Invocation } from "../command.ts";
import { endHold } from "../release.ts";
import type { Terminal } from "../terminal.ts";
import type { WatchedTarget } from "./watched-target.ts";

/** The control socket of a daemon. */
export type ControlSocket = AsyncDisposable & {
  /** Opens the socket unless it is open or another daemon serves it. */
  readonly open: () => Promise<void>;
};

/** Serves commands on the control socket of the state folder, as soon as no other daemon does. */
export function serveCommands(
  stateFolder: string,
  watching: readonly WatchedTarget[],
  terminal: Invocation["terminal"],
): ControlSocket {
  let opening: Promise<AsyncDisposable | null> = Promise.resolve(null);
  return {
    open: async () => {
      opening = opening.then((opened) => opened ?? openControl(stateFolder, watching, terminal));
      await opening;
    },
    [Symbol.asyncDispose]: async () => (await opening)?.[Symbol.asyncDispose](),
  };
}

// Passes need no socket, so its failure is only a warning.
async function openControl(
  stateFolder: string,
  watching: readonly WatchedTarget[],
  terminal: Invocation["terminal"],
): Promise<AsyncDisposable | null> {
  try {
    return await serveControl(stateFolder, controlOf(watching, terminal), terminal);
  } catch (error) {
    const why = errorMessage(error);
    terminal.warnings.add(runWarning("no-socket", `the daemon has no socket for commands: ${why}`));
    return null;
  }
}

function controlOf(watching: readonly WatchedTarget[], terminal: Invocation["terminal"]): DaemonControl {
  return {
    status: () => Promise.all(watching.map(({ recorder }) => recorder.status())),
    reconcile: async (name) => {
      const chosen = watching.filter(({ target }) => name === null || target.choice?.name === name);
      await Promise.all(
        chosen.map(({ trigger, recorder }) => {
          const ended = recorder.nextPass();
          trigger.fire("request");
          return ended;
        }),
      );
    },
    carryOut: async (command) => {
      const watched = watching.find(({ target }) => (target.choice?.name ?? "default") === command.target);
      if (watched !== undefined) return runDaemonCommand(command, watched, terminal);
      throw new HoldfastError("invalid", `the daemon does not watch the target ${command.target}`, {
        hint: "it has `sync: off`, or the daemon was started with --target",
      });
    },
  };
}

/** Runs a command on a target of the daemon, between two of its passes; a pass follows. */
async function runDaemonCommand(command: DaemonCommand, watched: WatchedTarget, terminal: Terminal): Promise<unknown> {
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
