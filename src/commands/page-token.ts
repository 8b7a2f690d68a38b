import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { Secret } from "../contract/secret.ts";
import type { Terminal } from "./terminal.ts";

/** The token of the status page: from the file that `HOLDFAST_UI_TOKEN_FILE` names, or `HOLDFAST_UI_TOKEN`. */
export function readPageToken({ env, cwd }: Pick<Terminal, "env" | "cwd">): Secret | null {
  const file = env.HOLDFAST_UI_TOKEN_FILE;
  const token = (file ? readFileSync(resolve(cwd, file), "utf8") : (env.HOLDFAST_UI_TOKEN ?? "")).trim();
  return token === "" ? null : new Secret(token);
}
