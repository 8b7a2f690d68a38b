import { resolve } from "node:path";
import { Secret } from "../../contract/secret.ts";
import type { ControlPlaneOptions } from "../../server/control-plane.ts";
import type { DataOptions } from "../../server/options.ts";
import type { Invocation } from "../command.ts";
import { terminalLog } from "../output/terminal-log.ts";
import type { Terminal } from "../terminal.ts";
import { dataFolder } from "./data-folder.ts";

/** The data of the control plane that an offline command administers. */
export async function dataOptions(invocation: Invocation): Promise<DataOptions> {
  const { database } = invocation.flags;
  const { clock, random } = invocation.terminal;
  return {
    clock,
    random,
    data: await dataFolder(invocation),
    ...(database ? { database: new Secret(database) } : {}),
    ...serverKeyOptions(invocation.terminal),
    log: terminalLog(invocation, "error"),
  };
}

/** The control plane's key from the environment: its value or its file; empty if neither is set and the data folder holds it. */
export function serverKeyOptions({ env, cwd }: Terminal): Pick<ControlPlaneOptions, "serverKey" | "serverKeyFile"> {
  if (env.HOLDFAST_SERVER_KEY) return { serverKey: new Secret(env.HOLDFAST_SERVER_KEY) };
  return env.HOLDFAST_SERVER_KEY_FILE ? { serverKeyFile: resolve(cwd, env.HOLDFAST_SERVER_KEY_FILE) } : {};
}
