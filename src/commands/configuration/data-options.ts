import { Secret } from "../../contract/secret.ts";
import type { DataOptions } from "../../server/offline-admin.ts";
import type { Invocation } from "../command.ts";
import { serverKeyOptions } from "../keys/server-key-options.ts";
import { terminalLog } from "../output/terminal-log.ts";
import { dataFolder } from "./data-folder.ts";

/** The data of the control plane that an offline command administers. */
export async function dataOptions(invocation: Invocation): Promise<DataOptions> {
  const { database } = invocation.flags;
  return {
    data: await dataFolder(invocation),
    ...(database ? { database: new Secret(database) } : {}),
    ...serverKeyOptions(invocation.terminal),
    log: terminalLog(invocation, "error"),
  };
}
