import type { Diagnostic } from "../core/diagnostic.ts";
import { type NamedList, namedList } from "../model/named-list.ts";
import type { Stamp } from "./file-stamp.ts";

/** One file of a source that may hold manifests. */
export type SourceFile = {
  /** Relative to the source's root, with `/`. */
  readonly path: string;
  /** Relative to the working directory, as reports name it. */
  readonly display: string;
  /**
   * Its content, or only the beginning where `size` is beyond the limit: at once where it is held or lies in a folder, else
   * read by git. It is given out once, so that nothing holds it longer than needed, and read again after that.
   */
  bytes(stop: { readonly signal: AbortSignal }): Uint8Array | Promise<Uint8Array>;
  /** Bytes of the whole file. */
  readonly size: number;
  /** Of the content; null where `size` is beyond the limit. */
  readonly digest: string | null;
  /** How it lay in its folder; null in a commit. */
  readonly stamp: Stamp | null;
  /** Its git blob id; null outside git. */
  readonly blob: string | null;
};

/** A commit, and how many files differ from it. */
type ChangedSince = { readonly commit: string; readonly files: number };

/** The files of a source as they were at one moment. */
export type RevisionFiles = {
  /** The commit whose content this is, byte for byte; null for a folder that differs from its commit or has none. */
  readonly commit: string | null;
  /** The commit that it would be without these files, by path; left out where it is none without them either. */
  readonly untracked?: { readonly commit: string; readonly paths: ReadonlySet<string> };
  /** The commit that the folder differs from, and in how many files; left out where it differs from none. */
  readonly changedSince?: ChangedSince;
  /** When reading it began, epoch milliseconds. */
  readonly at: number;
  /** Absolute path of the source's root. */
  readonly root: string;
  /** The earlier commit that it was read by, and the files that have another content now; absent where all were read. */
  readonly since?: {
    readonly commit: string;
    /** Whether this commit is known to come directly after it. */
    readonly isNext: boolean;
    readonly changed: ReadonlySet<string>;
  };
  /** In path order. */
  readonly files: readonly SourceFile[];
  /** The same by their paths. */
  readonly filesByPath: NamedList<SourceFile>;
  /** What could not be read, or was passed over though it looks like a manifest file. */
  readonly diagnostics: readonly Diagnostic[];
};

/** The files of a revision by their paths. */
export function filesByPath(files: readonly SourceFile[]): NamedList<SourceFile> {
  return namedList(files, ({ path }) => path);
}
