import type { Stats } from "node:fs";

/** Attributes that change with a file's content: `mtime` can be set back, `ctime` cannot. */
export type Stamp = {
  readonly size: number;
  readonly modified: number;
  readonly changed: number;
  readonly inode: number;
};

/** A file touched so shortly before it was looked at may be touched again without its stamp telling. */
const RACY_MS = 2000;

/** The stamp of a file. */
export function stampOf({ size, mtimeMs, ctimeMs, ino }: Stats): Stamp {
  return { size, modified: mtimeMs, changed: ctimeMs, inode: ino };
}

/** Whether a file with this stamp is what it was when it had the other one, seen at that time (epoch milliseconds). */
export function isUntouched(now: Stamp, before: Stamp, seenAt: number): boolean {
  const isSame =
    now.size === before.size &&
    now.modified === before.modified &&
    now.changed === before.changed &&
    now.inode === before.inode;
  return isSame && Math.max(before.modified, before.changed) < seenAt - RACY_MS;
}
