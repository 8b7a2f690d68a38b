import { realpathSync } from "node:fs";
import { isAbsolute, join, parse, relative, sep } from "node:path";
import { lstatOrNull } from "./lstat.ts";
import { UnsafePathError } from "./unsafe-path.ts";

/**
 * Where an absolute path leads. Links on the way are the operator's own, and followed; but not below `content`, a folder
 * whose files come from a repository. What does not exist yet is taken as it is written.
 */
export function realPathOutside(content: string | null, path: string): string {
  const { root } = parse(path);
  const steps = path.slice(root.length).split(sep).filter(Boolean);
  let at = root;
  for (const [index, step] of steps.entries()) {
    const next = join(at, step);
    const stat = lstatOrNull(next);
    if (stat === null) return join(at, ...steps.slice(index));
    if (!stat.isSymbolicLink()) at = next;
    // Where case does not count, the names on the disk are the ones to compare.
    else if (content !== null && isAtOrBelow(content, realpathSync.native(at))) throw linkInContent(next);
    else at = targetOf(next);
  }
  return realpathSync.native(at);
}

function targetOf(link: string): string {
  try {
    return realpathSync.native(link);
  } catch (cause) {
    throw new UnsafePathError(`${link} is a symbolic link that leads nowhere`, {
      hint: "correct it, or name another path",
      cause,
    });
  }
}

/** Whether a path is a folder, or lies below it; both are real paths. */
export function isAtOrBelow(folder: string, path: string): boolean {
  const steps = relative(folder, path);
  return steps.split(sep)[0] !== ".." && !isAbsolute(steps);
}

function linkInContent(path: string): UnsafePathError {
  return new UnsafePathError(`${path} is a symbolic link in the source`, {
    hint: "a repository could lead it anywhere: remove it, or name a path outside of the source",
  });
}
