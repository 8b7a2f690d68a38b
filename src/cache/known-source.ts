import type { Outline } from "../manifests/outline.ts";
import type { FileState } from "../source/known-files.ts";

/** What an earlier run knew of one file. */
export type KnownFile = {
  readonly outside: FileState;
  /** What it contributes, perhaps made when asked for; null where it has to be read each time. */
  readonly content: Outline | null;
};

/** Known files by path, in the order of their paths. */
export type KnownSourceFiles = Iterable<readonly [path: string, file: KnownFile]> & {
  readonly size: number;
  readonly get: (path: string) => KnownFile | undefined;
};

/** What an earlier run knew of a source. */
export type KnownSource = {
  /** When it began to read the source, epoch milliseconds. */
  readonly at: number;
  readonly files: KnownSourceFiles;
};

/** Where nothing is known of a source. */
export const NO_SOURCE: KnownSource = { at: 0, files: new Map() };
