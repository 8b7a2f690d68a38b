import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { Secret } from "../contract/secret.ts";
import type { Terminal } from "./terminal.ts";

/**
 * Reads the token of the status page anew each time, from the file that `HOLDFAST_UI_TOKEN_FILE` names or from
 * `HOLDFAST_UI_TOKEN`; null where neither is set. A file that has lost its token leaves the one that was read last.
 */
export function pageTokenReader({ env, cwd }: Pick<Terminal, "env" | "cwd">): () => Secret | null {
  const file = env.HOLDFAST_UI_TOKEN_FILE;
  if (!file) return () => (env.HOLDFAST_UI_TOKEN ? new Secret(env.HOLDFAST_UI_TOKEN.trim()) : null);
  const read = lastGoodSecret(resolve(cwd, file));
  // Until there is one, nobody's: the page is not open to all where a token was asked for.
  return () => read() ?? nobodys;
}

const nobodys = new Secret(randomUUID());

/** Reads a secret from a file anew each time; the last good one while there is none, and null before. */
export function lastGoodSecret(file: string): () => Secret | null {
  let last: Secret | null = null;
  return () => {
    last = secretIn(file) ?? last;
    return last;
  };
}

function secretIn(file: string): Secret | null {
  try {
    const secret = readFileSync(file, "utf8").trim();
    return secret === "" ? null : new Secret(secret);
  } catch {
    return null;
  }
}
