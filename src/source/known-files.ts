import type { Stamp } from "./file-stamp.ts";

/** What tells one state of a file from another. */
export type FileState = {
  readonly stamp: Stamp;
  /** Of its content. */
  readonly digest: string;
  /** Its git blob id; null where nobody asked. */
  readonly blob: string | null;
};

/** Files whose state is known from an earlier reading of the folder. */
export type KnownFiles = {
  /** When that reading began, epoch milliseconds. */
  readonly at: number;
  readonly files: ReadonlyMap<string, FileState>;
};
