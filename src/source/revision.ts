import type { Stop } from "../clock/clock.ts";
import type { Diagnostic } from "../core/diagnostic.ts";
import { type NamedList, namedList } from "../model/named-list.ts";
import type { Stamp } from "./file-stamp.ts";
import { isOfPolicies, type PatchFolders } from "./source-root.ts";

/** One file of a source that may hold manifests. */
export type SourceFile = {
  /** Relative to the source's root, with `/`. */
  readonly path: string;
  /** Relative to the working directory, as reports name it. */
  readonly display: string;
  /**
   * Its content, or only the beginning if `size` is beyond the limit. Synchronous if it is in memory or in a folder;
   * otherwise git reads it. The content is released after the first call, and read again by later ones.
   */
  bytes(stop: Stop): Uint8Array | Promise<Uint8Array>;
  /** Size of the whole file in bytes. */
  readonly size: number;
  /** Digest of the content; null if `size` is beyond the limit. */
  readonly digest: string | null;
  /** Its stamp in the folder; null in a commit. */
  readonly stamp: Stamp | null;
  /** Its git blob id; null outside git. */
  readonly blob: string | null;
};

/** A commit, and how many files differ from it. */
type ChangedSince = { readonly commit: string; readonly files: number };

/** The files of a source at one moment. */
export type RevisionFiles = {
  /** The commit that the content equals byte for byte; null for a folder that differs from its commit or has none. */
  readonly commit: string | null;
  /** The commit that the content would equal without these untracked files; absent if other files differ too. */
  readonly untracked?: { readonly commit: string; readonly paths: ReadonlySet<string> };
  /** The files that the commit does not have, by path; absent if the folder does not differ. */
  readonly added?: ReadonlySet<string>;
  /** The files that are not the same in the commit, by path, with those that it does not have; absent if none differs. */
  readonly differing?: ReadonlySet<string>;
  /** The commit that the folder differs from, and in how many files; absent if it does not differ. */
  readonly changedSince?: ChangedSince;
  /** When reading began, in epoch milliseconds. */
  readonly at: number;
  /** Absolute path of the source's root. */
  readonly root: string;
  /** The earlier commit that was reused, and the files that differ from it; absent if all files were read. */
  readonly since?: {
    readonly commit: string;
    /** Whether the earlier commit is known to be the first parent of this one. */
    readonly isNext: boolean;
    readonly changed: ReadonlySet<string>;
  };
  /** In path order. */
  readonly files: readonly SourceFile[];
  /** The same files by path. */
  readonly filesByPath: NamedList<SourceFile>;
  /** The files of its folders of policies, which are not among `files`; absent if there are none. */
  readonly policyFiles?: readonly SourceFile[];
  /** Files that could not be read, or were skipped although they are named like manifest files. */
  readonly diagnostics: readonly Diagnostic[];
  /** The number of files that ignore files leave out, by the ignore file as reports name it. */
  readonly leftOut: ReadonlyMap<string, number>;
  /** Set if there may be more of them. */
  readonly isLeftOutMore?: true;
};

/** A revision without the patch files of other targets; a file belongs to the innermost folder of patches. */
export function withoutOtherPatches<Files extends RevisionFiles>(revision: Files, folders: PatchFolders): Files {
  const { own, others } = folders;
  if (others.length === 0) return revision;
  const isBelow = (path: string, folder: string): boolean => path.startsWith(`${folder}/`);
  const isOthers = (path: string): boolean => {
    const innermost = others
      .filter((folder) => isBelow(path, folder))
      .reduce((a, b) => (b.length > a.length ? b : a), "");
    return innermost !== "" && !(own !== null && own.length >= innermost.length && isBelow(path, own));
  };
  const files = revision.files.filter(({ path }) => !isOthers(path));
  return files.length === revision.files.length ? revision : { ...revision, files, filesByPath: filesByPath(files) };
}

/** A revision whose policies are apart from its manifests; one that cannot be read is an error. */
export function withPoliciesApart<Files extends RevisionFiles>(revision: Files, folders: PatchFolders): Files {
  const { policies = [] } = folders;
  const isPolicy = (path: string): boolean => isOfPolicies(folders, path);
  const [first] = revision.files;
  if (policies.length === 0 || first === undefined) return revision;
  const { apart = [], manifests = [] } = Object.groupBy(revision.files, ({ path }) =>
    isPolicy(path) ? "apart" : "manifests",
  );
  // Reports name files relative to the working directory.
  const top = first.display.slice(0, first.display.length - first.path.length);
  const diagnostics = revision.diagnostics.map((one): Diagnostic => {
    const isOfPolicy = one.file?.startsWith(top) && isPolicy(one.file.slice(top.length));
    return isOfPolicy ? { ...one, severity: "error" } : one;
  });
  if (apart.length === 0) return { ...revision, diagnostics };
  return { ...revision, files: manifests, filesByPath: filesByPath(manifests), policyFiles: apart, diagnostics };
}

/** The files of a revision by path. */
export function filesByPath(files: readonly SourceFile[]): NamedList<SourceFile> {
  return namedList(files, ({ path }) => path);
}
