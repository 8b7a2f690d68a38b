import { realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import { checkoutTop } from "../source/repository.ts";
import { isTrackedFolder } from "../source/tracked.ts";
import { requireStateFolder } from "../state/state-folder.ts";
import type { Invocation } from "./command.ts";
import type { Terminal } from "./terminal.ts";

/** The data folder of the control plane to serve or to administer offline; refuses one owned by another user. */
export async function dataFolder({ flags, terminal }: Pick<Invocation, "flags" | "terminal">): Promise<string> {
  const { cwd, stopping: signal } = terminal;
  const place = { content: checkoutAt(terminal), isTracked: isTrackedFolder, signal };
  if (flags.data !== undefined) return requireStateFolder(resolve(cwd, flags.data), place);
  return join(await requireStateFolder(resolve(cwd, flags.state ?? ".holdfast"), place), "control-plane");
}

/** The checkout that a command without a source runs in; null outside of any. */
export function checkoutAt({ cwd }: Pick<Terminal, "cwd">): string | null {
  return checkoutTop(realpathSync.native(cwd));
}
