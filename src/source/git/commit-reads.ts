import type { Stop } from "../../clock/clock.ts";
import type { GitResult } from "../remote/run-git.ts";
import type { TreeChange, TreeIndex } from "./tree-entry.ts";

/** Returns what an earlier read with this key has given, or reads it. */
export type SharedRead<Value> = (key: string, stop: Stop, read: () => Promise<Value>) => Promise<Value>;

/**
 * What the reads of many targets of one repository of ours share: what git says of commits by their full ids, and the
 * process that reads blobs. It is released soon after the last read.
 */
export type CommitReads = {
  readonly trees: SharedRead<TreeIndex>;
  readonly changes: SharedRead<readonly TreeChange[] | null>;
  /** What commands of git print. */
  readonly outputs: SharedRead<GitResult>;
  /** Reads blobs into a collector until it is done. */
  readonly collect: (blobs: readonly string[], collector: BlobCollector, stop: Stop) => Promise<void>;
  /** Releases it now, because more than new commits has changed in the repository. */
  readonly release: () => void;
};

/** Takes the output of `git cat-file --batch`. */
export type BlobCollector = {
  readonly contents: readonly Uint8Array[];
  readonly add: (part: Buffer) => void;
  /** Whether all is there, or the rest cannot be read. */
  readonly isDone: () => boolean;
  readonly isTooLarge: () => boolean;
};
