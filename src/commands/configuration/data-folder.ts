import { join, resolve } from "node:path";
import { isTrackedFolder } from "../../source/git/is-tracked.ts";
import { checkoutAt } from "../../source/git/repository-paths.ts";
import { requireStateFolder } from "../../state/require-state-folder.ts";
import type { Invocation } from "../command.ts";
import type { Terminal } from "../terminal.ts";
import { stateDatabase } from "./state-database.ts";

/** The data folder of the control plane to serve or to administer offline; refuses one owned by another user. */
export async function dataFolder(invocation: Invocation): Promise<string> {
  const { flags, terminal } = invocation;
  if (flags.data !== undefined) return requireFolder(flags.data, terminal);
  return join(await stateFolder(invocation), "control-plane");
}

/** The state folder of a command without a source; refuses one owned by another user. */
export function stateFolder(invocation: Invocation): Promise<string> {
  const { flags, terminal } = invocation;
  const named = stateDatabase(invocation) === null ? flags.state : undefined;
  return requireFolder(named ?? ".holdfast", terminal);
}

function requireFolder(folder: string, terminal: Terminal): Promise<string> {
  const { cwd, stopping: signal } = terminal;
  return requireStateFolder(resolve(cwd, folder), {
    content: checkoutAt(cwd),
    isTracked: isTrackedFolder,
    signal,
  });
}
