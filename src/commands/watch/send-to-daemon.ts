import { commandDaemon, type DaemonCommand } from "../../daemon/control-socket.ts";
import type { CommandTarget } from "../targets/create-target.ts";
import type { Terminal } from "../terminal.ts";

type Untargeted<Command> = Command extends unknown ? Omit<Command, "target"> : never;

/** Lets the daemon that runs on the state folder carry out a command, since it holds what the command needs; null where none runs. */
export function sendToDaemon<Result>(
  command: Untargeted<DaemonCommand>,
  { choice, stateFolder }: CommandTarget & { readonly stateFolder: string },
  { stopping: signal }: Terminal,
): Promise<Result | null> {
  return commandDaemon<Result>(stateFolder, { ...command, target: choice?.name ?? "default" }, { signal });
}
