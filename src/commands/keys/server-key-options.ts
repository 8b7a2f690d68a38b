import { resolve } from "node:path";
import { Secret } from "../../contract/secret.ts";
import type { ControlPlaneOptions } from "../../server/control-plane.ts";
import type { Terminal } from "../terminal.ts";

/** The control plane's key from the environment: its value or its file; empty if neither is set and the data folder holds it. */
export function serverKeyOptions({ env, cwd }: Terminal): Pick<ControlPlaneOptions, "serverKey" | "serverKeyFile"> {
  if (env.HOLDFAST_SERVER_KEY) return { serverKey: new Secret(env.HOLDFAST_SERVER_KEY) };
  return env.HOLDFAST_SERVER_KEY_FILE ? { serverKeyFile: resolve(cwd, env.HOLDFAST_SERVER_KEY_FILE) } : {};
}
