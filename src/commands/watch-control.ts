import { type DaemonControl, serveControl } from "../daemon/control-socket.ts";
import { printable } from "../render/escape.ts";
import type { Invocation } from "./command.ts";
import type { WatchedTarget } from "./watched-target.ts";

/** Serves `status` and `reconcile` on a socket; null where that fails, since passes need neither. */
export async function openControl(
  stateFolder: string,
  watching: readonly WatchedTarget[],
  { stderr }: Invocation["terminal"],
): Promise<AsyncDisposable | null> {
  try {
    return await serveControl(stateFolder, controlOf(watching));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    stderr.write(`warning: the daemon has no socket for status and reconcile: ${printable(why)}\n`);
    return null;
  }
}

function controlOf(watching: readonly WatchedTarget[]): DaemonControl {
  return {
    status: () => watching.map(({ recorder }) => recorder.status()),
    reconcile: async (name) => {
      const chosen = watching.filter(({ target }) => name === null || target.choice?.name === name);
      await Promise.all(
        chosen.map(({ trigger, recorder }) => {
          const ended = recorder.nextPass();
          trigger.ring();
          return ended;
        }),
      );
    },
  };
}
