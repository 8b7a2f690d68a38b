import { commandDaemon, type TargetCommand } from "../../daemon/control-socket.ts";
import type { CommandTarget } from "../targets/create-target.ts";
import type { Terminal } from "../terminal.ts";

/** Sends a command to the daemon on the state folder, which holds the lock that the command needs; null if none runs. */
export function sendToDaemon<Result>(
  command: TargetCommand,
  { name, stateFolder }: CommandTarget & { readonly stateFolder: string },
  { stopping: signal }: Terminal,
): Promise<Result | null> {
  return commandDaemon<Result>(stateFolder, { ...command, target: name }, { signal });
}
