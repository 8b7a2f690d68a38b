import type { Stats } from "node:fs";
import { UnsafePathError } from "./unsafe-path-error.ts";

const GROUP_WRITES = 0o020;
const OTHERS_WRITE = 0o022;
const OTHERS_MAY = 0o077;
const WORLD_MAY = 0o007;

/** Whether the current user owns a file; always true on systems without users (Windows). */
function isOwned({ uid }: Stats): boolean {
  const user = process.geteuid?.();
  return user === undefined || uid === user;
}

/** Refuses a file or folder that belongs to another user. */
export function requireOwner(path: string, stat: Stats): void {
  if (isOwned(stat)) return;
  throw new UnsafePathError(`${path} belongs to another user (uid ${stat.uid})`, {
    hint: "run as that user, or name a folder of your own",
  });
}

/**
 * The group that may write a folder besides its owner; null when none may. Kubernetes does this for a volume with an
 * fsGroup, and makes everything in it accessible to that group whenever the volume is mounted.
 */
export function sharedGroup(folder: Stats): number | null {
  return (folder.mode & GROUP_WRITES) !== 0 && (isOwned(folder) || folder.uid === 0) ? folder.gid : null;
}

/** Refuses a file that anyone except its owner and the group of its folder can write. */
export function requireNotWritableByOthers(path: string, stat: Stats, group: number | null): void {
  // A group with the same number as the user is the user's own group. Many systems let it write new folders.
  const isPrivate = stat.gid === process.geteuid?.();
  const others = stat.gid === group || isPrivate ? OTHERS_WRITE & WORLD_MAY : OTHERS_WRITE;
  if (!hasUsers() || (stat.mode & others) === 0) return;
  throw new UnsafePathError(`${path}: others can write it; run chmod go-w on it`, {
    hint: "check first what they changed",
  });
}

/** Refuses a secret that anyone except its owner and the group of its folder can read. */
export function requireNotReadableByOthers(path: string, stat: Stats, group: number | null): void {
  if (!hasUsers() || (stat.mode & (stat.gid === group ? WORLD_MAY : OTHERS_MAY)) === 0) return;
  throw new UnsafePathError(`${path}: others can read it; run chmod 600 on it`, {
    hint: "replace the secret in it as well, if they may have read it",
  });
}

function hasUsers(): boolean {
  return process.geteuid !== undefined;
}
