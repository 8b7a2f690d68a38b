import type { Stats } from "node:fs";
import { UnsafePathError } from "./unsafe-path.ts";

const GROUP_WRITES = 0o020;
const OTHERS_WRITE = 0o022;
const OTHERS_MAY = 0o077;
const WORLD_MAY = 0o007;

/** Whether the current user owns it; everything counts as owned where the system has no users (Windows). */
function isOurs({ uid }: Stats): boolean {
  const user = process.geteuid?.();
  return user === undefined || uid === user;
}

/** Refuses what belongs to another user. */
export function requireOwner(path: string, stat: Stats): void {
  if (isOurs(stat)) return;
  throw new UnsafePathError(`${path} belongs to another user (uid ${stat.uid})`, {
    hint: "run as that user, or name a folder of your own",
  });
}

/**
 * The group that may use a folder along with its owner; null where the owner keeps it. Kubernetes gives a volume to its
 * fsGroup in this way, and opens everything in it to that group whenever the volume is mounted.
 */
export function sharedGroup(folder: Stats): number | null {
  return (folder.mode & GROUP_WRITES) !== 0 && (isOurs(folder) || folder.uid === 0) ? folder.gid : null;
}

/** Refuses what anybody but the owner, and the group that its folder is shared with, can write. */
export function requireNotWritableByOthers(path: string, stat: Stats, group: number | null): void {
  // A group of the same number as the user is that user's own: where each user has one, new folders are open to it.
  const isPrivate = stat.gid === process.geteuid?.();
  const others = stat.gid === group || isPrivate ? OTHERS_WRITE & WORLD_MAY : OTHERS_WRITE;
  if (!hasUsers() || (stat.mode & others) === 0) return;
  throw new UnsafePathError(`${path}: others can write it; run chmod go-w on it`, {
    hint: "see first what they changed",
  });
}

/** Refuses a secret that anybody but its owner, and the group that its folder is shared with, can read. */
export function requireNotReadableByOthers(path: string, stat: Stats, group: number | null): void {
  if (!hasUsers() || (stat.mode & (stat.gid === group ? WORLD_MAY : OTHERS_MAY)) === 0) return;
  throw new UnsafePathError(`${path}: others can read it; run chmod 600 on it`, {
    hint: "replace the secret in it as well, where they may have done so",
  });
}

function hasUsers(): boolean {
  return process.geteuid !== undefined;
}
