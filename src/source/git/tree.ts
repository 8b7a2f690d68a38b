import { gitOf, headCommit, type ObjectFormat, objectFormatOf, repositoryFailure, type Stop } from "./git.ts";
import { prefixIn, type Repository } from "./repository-paths.ts";

/** The commit that is checked out, and its entries below a folder. */
export type Head = {
  readonly commit: string;
  readonly format: ObjectFormat;
  /** Blob id of each regular file by path relative to the folder. */
  readonly blobs: ReadonlyMap<string, string>;
  /** Symbolic links, by path relative to the folder. */
  readonly links: readonly string[];
  /** Submodules, by path relative to the folder. */
  readonly submodules: readonly string[];
};

/** The mode of a symbolic link in a tree. */
export const LINK_MODE = "120000";

/** The mode of a submodule in a tree. */
export const SUBMODULE_MODE = "160000";

/** One entry of a commit's tree. */
export type TreeEntry = {
  readonly mode: string;
  readonly blob: string;
  /** NaN if git does not have the blob. */
  readonly size: number;
  /** Relative to the top of the repository. */
  readonly path: string;
};

/** The commit that is checked out, and its files below a folder; null if there is none, or if git is not installed. */
export async function headOf(repository: Repository, folder: string, stop: Stop): Promise<Head | null> {
  const commit = await headCommit(repository, stop);
  if (commit === null) return null;
  const prefix = prefixIn(repository, folder);
  const blobs = new Map<string, string>();
  const submodules: string[] = [];
  const links: string[] = [];
  // Sizes are left out: in a partial clone, git would need the blobs of files that are not checked out.
  for (const { mode, blob, path } of await listTree(repository, commit, stop, { withSizes: false })) {
    if (!path.startsWith(prefix)) continue;
    if (mode.startsWith("100")) blobs.set(path.slice(prefix.length), blob);
    else if (mode === LINK_MODE) links.push(path.slice(prefix.length));
    else if (mode === SUBMODULE_MODE) submodules.push(path.slice(prefix.length));
  }
  return { commit, format: objectFormatOf(commit), blobs, links, submodules };
}

/** Every entry of a commit's tree, or those at some paths, by full commit id; sizes are 0 unless requested. */
export async function listTree(
  repository: Repository,
  commit: string,
  stop: Stop,
  { withSizes = true, paths = [] }: { readonly withSizes?: boolean; readonly paths?: readonly string[] } = {},
): Promise<readonly TreeEntry[]> {
  try {
    const options = ["-r", "-z", ...(withSizes ? ["-l"] : []), "--full-tree"];
    const args = ["--literal-pathspecs", "ls-tree", ...options, commit, "--", ...paths];
    const listing = await gitOf(repository, args, stop);
    return listing.split("\0").flatMap(readEntry);
  } catch (error) {
    stop.signal.throwIfAborted();
    throw repositoryFailure(repository, error);
  }
}

/** A path that differs between two commits. */
export type TreeChange = {
  readonly path: string;
  /** The blob in the later commit. */
  readonly blob: string;
  /** Whether it is a regular file in both commits, so that only its content differs. */
  readonly isContent: boolean;
};

/** The differences between the trees of two commits; null if git cannot compare them. */
export async function diffTrees(
  repository: Repository,
  { before, commit }: { readonly before: string; readonly commit: string },
  stop: Stop,
): Promise<readonly TreeChange[] | null> {
  try {
    const options = ["-r", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none"];
    const words = (await gitOf(repository, ["diff-tree", ...options, before, commit], stop)).split("\0");
    return words.flatMap((word, index) =>
      word.startsWith(":") && index % 2 === 0 ? changeOf(word, words[index + 1]) : [],
    );
  } catch {
    stop.signal.throwIfAborted();
    return null;
  }
}

// `:100644 100644 <before> <after> M`, followed by the path.
function changeOf(word: string, path = ""): readonly TreeChange[] {
  const [before = "", mode = "", , blob = "", status = ""] = word.slice(1).split(" ");
  return [{ path, blob, isContent: status === "M" && before.startsWith("100") && mode.startsWith("100") }];
}

function readEntry(line: string): readonly TreeEntry[] {
  const tab = line.indexOf("\t");
  const [mode = "", , blob = "", size = "-"] = line.slice(0, Math.max(0, tab)).split(/ +/);
  return tab < 0 ? [] : [{ mode, blob, size: size === "-" ? 0 : Number(size), path: line.slice(tab + 1) }];
}
