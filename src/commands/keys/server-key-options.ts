import { resolve } from "node:path";
import { Secret } from "../../contract/secret.ts";
import type { ControlPlaneOptions } from "../../server/control-plane.ts";
import type { Terminal } from "../terminal.ts";

/** Where the control plane's key is: in `HOLDFAST_SERVER_KEY`, in the file that its `_FILE` variant names, or in the data folder. */
export function serverKeyOptions({
  env,
  cwd,
}: Pick<Terminal, "env" | "cwd">): Pick<ControlPlaneOptions, "serverKey" | "serverKeyFile"> {
  if (env.HOLDFAST_SERVER_KEY) return { serverKey: new Secret(env.HOLDFAST_SERVER_KEY) };
  return env.HOLDFAST_SERVER_KEY_FILE ? { serverKeyFile: resolve(cwd, env.HOLDFAST_SERVER_KEY_FILE) } : {};
}
