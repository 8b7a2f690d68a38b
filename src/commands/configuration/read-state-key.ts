import { resolve } from "node:path";
import { HoldfastError } from "../../core/errors.ts";
import { readGivenText, whyUnreadable } from "../../files/read-given-file.ts";
import type { Terminal } from "../terminal.ts";

/**
 * The key that seals the ledger, from `HOLDFAST_STATE_KEY` or the file of `HOLDFAST_STATE_KEY_FILE`; null if neither is set,
 * because the state folder then holds the key.
 */
export function readStateKey({ env, cwd }: Terminal): string | null {
  if (env.HOLDFAST_STATE_KEY) return env.HOLDFAST_STATE_KEY;
  if (!env.HOLDFAST_STATE_KEY_FILE) return null;
  try {
    return readGivenText(resolve(cwd, env.HOLDFAST_STATE_KEY_FILE));
  } catch (cause) {
    throw new HoldfastError("error", `the file that HOLDFAST_STATE_KEY_FILE names ${whyUnreadable(cause)}`, { cause });
  }
}
