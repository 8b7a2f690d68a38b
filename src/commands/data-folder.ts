import { join, resolve } from "node:path";
import type { Invocation } from "./command.ts";

/** The data folder of the control plane that is served, or worked on beside it. */
export function dataFolder({ flags, terminal }: Pick<Invocation, "flags" | "terminal">): string {
  return resolve(terminal.cwd, flags.data ?? join(flags.state ?? ".holdfast", "control-plane"));
}
