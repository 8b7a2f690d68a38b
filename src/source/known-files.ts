import type { Stamp } from "./file-stamp.ts";

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
