import { lstatSync, mkdirSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import { lstatOrNull } from "./lstat-or-null.ts";
import { requireNotWritableByOthers, requireOwner, sharedGroup } from "./owner.ts";
import { UnsafePathError } from "./unsafe-path-error.ts";

const WORLD_WRITES = 0o002;
const STICKY = 0o1000;

/**
 * Refuses anything but a real folder that the current user owns. Inside a repository (`isContent`) no other user may
 * write it; elsewhere it may belong to root if root has made it writable for the user.
 */
export function requireOwnFolder(path: string, { isContent = false }: { readonly isContent?: boolean } = {}): void {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) {
    throw new UnsafePathError(`${path} is a symbolic link`, { hint: "remove it, or name the folder itself" });
  }
  if (!stat.isDirectory()) {
    throw new UnsafePathError(`${path} is no folder`, { hint: "remove it, or name another" });
  }
  const parent = lstatSync(dirname(path));
  if (!isContent && isGivenByRoot(stat, parent)) return;
  requireOwner(path, stat);
  requireNotWritableByOthers(path, stat, isContent ? null : sharedGroup(parent));
}

/** Creates a folder with mode 0700 when it is absent, and refuses one of another user. */
export function ensureOwnFolder(path: string): void {
  if (lstatOrNull(path) === null && isCreated(path)) return;
  requireOwnFolder(path);
}

function isCreated(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o700 });
    return true;
  } catch (error) {
    // Another process created it first.
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

// Root gives a folder to a group that may write it, as for a volume with an fsGroup. A volume without one (Kubernetes'
// emptyDir) is writable by everyone in the container; the files in it must be the user's own all the same. The sticky
// bit marks a folder that different users share, such as /tmp.
function isGivenByRoot({ uid, mode, dev }: Stats, parent: Stats): boolean {
  if (uid !== 0) return false;
  return (mode & WORLD_WRITES) === 0 || (dev !== parent.dev && (mode & STICKY) === 0);
}
