import { join } from "node:path";
import type { Stop } from "../clock/clock.ts";
import { HoldfastError } from "../core/errors.ts";
import { lstatOrNull } from "../files/lstat-or-null.ts";
import { requireOwnFolder } from "../files/own-folder.ts";
import { isAtOrBelow, realPathOutside } from "../files/real-path.ts";
import { UnsafePathError } from "../files/unsafe-path-error.ts";

/** The folders inside a state folder that are used. */
const INNER = ["cache", "tokens", "control-plane", "sources", "targets"];

/** The context in which a state folder is checked. */
export type StatePlace = {
  /** The real path of the folder whose files come from a repository; null if there is none. */
  readonly content: string | null;
  /** Whether git tracks anything at or below a path. */
  readonly isTracked: (path: string, stop: Stop) => Promise<boolean>;
  readonly signal: AbortSignal;
};

/**
 * Refuses a state folder that may come from a repository, or that other users can change: its content determines where
 * tokens are stored and which key seals. Returns its real path, even if the folder does not exist yet. Opens no file in
 * the folder. Runs git at most once, and only if the folder exists in a checkout.
 */
export async function requireStateFolder(path: string, place: StatePlace): Promise<string> {
  const { content } = place;
  const folder = realPathOutside(content, path);
  if (!exists(folder)) return folder;
  requireOwnFolder(folder, { isContent: content !== null && isAtOrBelow(content, folder) });
  for (const inner of INNER.map((name) => join(folder, name))) if (exists(inner)) requireOwnFolder(inner);
  await requireUntracked(folder, place);
  return folder;
}

function exists(path: string): boolean {
  return lstatOrNull(path) !== null;
}

async function requireUntracked(folder: string, place: StatePlace): Promise<void> {
  if (!exists(join(folder, ".git")) && !(await isTrackedByGit(folder, place))) return;
  throw new UnsafePathError(`the state folder ${folder} is tracked by git, and was not read`, {
    hint: "name one outside of the repository with --state; if you have committed it yourself, take it out with git rm -r --cached, and replace the tokens and keys in it",
  });
}

async function isTrackedByGit(folder: string, { isTracked, signal }: StatePlace): Promise<boolean> {
  try {
    return await isTracked(folder, { signal });
  } catch (cause) {
    signal.throwIfAborted();
    if (!(cause instanceof HoldfastError)) throw cause;
    const { message, hint } = cause;
    throw new HoldfastError("invalid", `cannot determine whether git tracks the state folder ${folder}: ${message}`, {
      hint: `name one outside of the checkout with --state${hint === null ? "" : `; or: ${hint}`}`,
      cause,
    });
  }
}
