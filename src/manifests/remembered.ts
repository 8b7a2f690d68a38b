import type { Diagnostic } from "../core/diagnostic.ts";
import type { Identity, Reference } from "../core/manifest.ts";
import type { FileState } from "../source/known-files.ts";
import type { Meaning } from "./meaning.ts";

/** What an earlier run knew of one file. */
export type RememberedFile = {
  readonly outside: FileState;
  /** What it contributes, perhaps made when asked for; null where it has to be read each time. */
  readonly content: RememberedContent | null;
};

/** What a file contributes, its manifests in outline. */
export type RememberedContent = {
  readonly declarations: readonly RememberedDeclaration[];
  readonly unmanaged: number;
  /** What is said of the file, without its name. */
  readonly said: readonly Omit<Diagnostic, "file">[];
};

/** A sound manifest in outline: all that rules between files need. */
export type RememberedDeclaration = {
  readonly type: string;
  readonly identity: Identity;
  readonly line: number;
  /** Its place among the documents of its file. */
  readonly index: number;
  readonly references: readonly Reference[];
  /** What its sound meaning was told by; null where it was not found sound. */
  readonly meaning: Meaning | null;
};

/** Remembered files by path, in the order of their paths. */
export type RememberedFiles = Iterable<readonly [path: string, file: RememberedFile]> & {
  readonly size: number;
  readonly get: (path: string) => RememberedFile | undefined;
};

/** What an earlier run knew of a source. */
export type RememberedSource = {
  /** When it began to read the source, epoch milliseconds. */
  readonly at: number;
  readonly files: RememberedFiles;
};

/** No source remembered. */
export const noSource: RememberedSource = { at: 0, files: new Map() };
