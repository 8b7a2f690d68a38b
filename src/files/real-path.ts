import { realpathSync } from "node:fs";
import { isAbsolute, join, parse, relative, sep } from "node:path";
import { lstatOrNull } from "./lstat-or-null.ts";
import { UnsafePathError } from "./unsafe-path-error.ts";

/**
 * The real path of an absolute path. Links are followed, except below `content`, a folder whose files come from a
 * repository. Parts that do not exist yet are kept unchanged.
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
    // On file systems that ignore case, the names on the disk are compared.
    else if (content !== null && isAtOrBelow(content, realpathSync.native(at))) throw linkInContent(next);
    else at = targetOf(next);
  }
  return realpathSync.native(at);
}

function targetOf(link: string): string {
  try {
    return realpathSync.native(link);
  } catch (cause) {
    throw new UnsafePathError(`${link} is a broken symbolic link`, {
      hint: "correct it, or name another path",
      cause,
    });
  }
}

/** The path from a folder to another path, with `/` on every system, as sources name their files. */
export function relativePath(folder: string, path: string): string {
  return relative(folder, path).split(sep).join("/");
}

/** Whether a path is the folder or lies below it; both are real paths. */
export function isAtOrBelow(folder: string, path: string): boolean {
  const steps = relative(folder, path);
  return steps.split(sep)[0] !== ".." && !isAbsolute(steps);
}

function linkInContent(path: string): UnsafePathError {
  return new UnsafePathError(`${path} is a symbolic link in the source`, {
    hint: "a repository could point it anywhere: remove it, or use a path outside the source",
  });
}
