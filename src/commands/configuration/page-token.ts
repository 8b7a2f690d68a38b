// biome-ignore-all lint/plugin: a token must not be foreseen
import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { Secret } from "../../contract/secret.ts";
import type { Terminal } from "../terminal.ts";
import { secretFileReader } from "./secret-file.ts";

/**
 * Returns a function that reads the token of the status and the dashboard on each call, from the file that `HOLDFAST_UI_TOKEN_FILE` names
 * or from `HOLDFAST_UI_TOKEN`; null if neither is set. While the file is missing or empty, the last token stays valid.
 */
export function pageTokenReader({ env, cwd }: Terminal): () => Secret | null {
  const file = env.HOLDFAST_UI_TOKEN_FILE;
  if (!file) return () => (env.HOLDFAST_UI_TOKEN ? new Secret(env.HOLDFAST_UI_TOKEN.trim()) : null);
  const read = secretFileReader(resolve(cwd, file));
  // A random token until the file holds one: a page with a configured token must never be open.
  return () => read() ?? unknownToken;
}

const unknownToken = new Secret(randomUUID());
