import { lstatSync, mkdirSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import { lstatOrNull } from "./lstat.ts";
import { requireNotWritableByOthers, requireOwner, sharedGroup } from "./owner.ts";
import { UnsafePathError } from "./unsafe-path.ts";

const WORLD_WRITES = 0o002;
const STICKY = 0o1000;

/**
 * Refuses anything but a real folder that is ours. Among the content of a repository (`isContent`) nobody else may have
 * a share in it; elsewhere it may be root's, who has given it to us.
 */
export function requireOwnFolder(path: string, { isContent = false }: { readonly isContent?: boolean } = {}): void {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) {
    throw new UnsafePathError(`${path} is a symbolic link`, { hint: "remove it, or name the folder that is meant" });
  }
  if (!stat.isDirectory()) {
    throw new UnsafePathError(`${path} is no folder`, { hint: "remove it, or name another" });
  }
  const parent = lstatSync(dirname(path));
  if (!isContent && isGiven(stat, parent)) return;
  requireOwner(path, stat);
  requireNotWritableByOthers(path, stat, isContent ? null : sharedGroup(parent));
}

/** Makes one folder for its owner alone where there is none, and refuses one that is not ours. */
export function ensureOwnFolder(path: string): void {
  if (lstatOrNull(path) === null && isMade(path)) return;
  requireOwnFolder(path);
}

function isMade(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o700 });
    return true;
  } catch (error) {
    // Somebody was faster.
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

// Root gives a folder away by a group that may write it, as a volume with an fsGroup is. A volume without one
// (Kubernetes' emptyDir) is open to all who share its mount, and nothing else: what lies in it must be ours all the
// same. The sticky bit tells a folder that strangers share, such as /tmp.
function isGiven({ uid, mode, dev }: Stats, parent: Stats): boolean {
  if (uid !== 0) return false;
  return (mode & WORLD_WRITES) === 0 || (dev !== parent.dev && (mode & STICKY) === 0);
}
