import type { Stats } from "node:fs";

/** Attributes that change with a file's content: `mtime` can be set back, `ctime` cannot. */
export type Stamp = {
  readonly size: number;
  readonly modified: number;
  readonly changed: number;
  readonly inode: number;
};

/** A file changed this shortly before its stamp was taken may be changed again without the stamp changing. */
const RACY_MS = 2000;

/** The stamp of a file. */
export function stampOf({ size, mtimeMs, ctimeMs, ino }: Stats): Stamp {
  return { size, modified: mtimeMs, changed: ctimeMs, inode: ino };
}

/**
 * Whether a file with the stamp `now` is unchanged since it had the stamp `before`, taken at `seenAt` (epoch
 * milliseconds).
 */
export function isUntouched(now: Stamp, before: Stamp, seenAt: number): boolean {
  const isSame =
    now.size === before.size &&
    now.modified === before.modified &&
    now.changed === before.changed &&
    now.inode === before.inode;
  return isSame && Math.max(before.modified, before.changed) < seenAt - RACY_MS;
}

/** What identifies one state of a file. */
export type FileState = {
  readonly stamp: Stamp;
  /** Digest of its content. */
  readonly digest: string;
  /** Its git blob id; null if it was not needed. */
  readonly blob: string | null;
};

/** Files whose state is known from an earlier reading of the folder. */
export type KnownFiles = {
  /** When that reading began, epoch milliseconds. */
  readonly at: number;
  readonly files: ReadonlyMap<string, FileState>;
};
