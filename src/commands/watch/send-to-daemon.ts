import { commandDaemon, type DaemonCommand } from "../../daemon/control-socket.ts";
import type { CommandTarget } from "../targets/create-target.ts";
import type { Terminal } from "../terminal.ts";

type Untargeted<Command> = Command extends unknown ? Omit<Command, "target"> : never;

/** Sends a command to the daemon on the state folder, which holds the lock that the command needs; null if none runs. */
export function sendToDaemon<Result>(
  command: Untargeted<DaemonCommand>,
  { name, stateFolder }: CommandTarget & { readonly stateFolder: string },
  { stopping: signal }: Terminal,
): Promise<Result | null> {
  return commandDaemon<Result>(stateFolder, { ...command, target: name }, { signal });
}
