import { errorMessage } from "../../contract/error-message.ts";
import { HoldfastError } from "../../core/errors.ts";
import { runWarning } from "../../core/run-warning.ts";
import { type DaemonControl, serveControl } from "../../daemon/control-socket.ts";
import type { Invocation } from "../command.ts";
import { runDaemonCommand } from "./run-daemon-command.ts";
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
