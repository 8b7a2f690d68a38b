import { basename, relative } from "node:path/posix";
import type { Stop } from "../../clock/clock.ts";
import { HoldfastError } from "../../core/errors.ts";
import { OWN_IGNORE_FILE } from "../ignore-files.ts";
import { defaultLimits, tooMany } from "../limits.ts";
import type { Pace } from "../pacer.ts";
import { runGit } from "../remote/run-git.ts";
import { CONFIG_NAME } from "../source-root.ts";
import type { CommitReads } from "./commit-reads.ts";
import { environmentOf, folderOf, headCommit, type ObjectFormat, objectFormatOf, repositoryFailure } from "./git.ts";
import { prefixIn, type Repository } from "./repository-paths.ts";
import {
  entriesAround,
  entriesBelow,
  indexOf,
  LINK_MODE,
  SUBMODULE_MODE,
  type TreeChange,
  type TreeEntry,
  type TreeIndex,
} from "./tree-entry.ts";

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
  /** Blob id of each file that decides which files are read, by path relative to the folder: `../…` for one above it. */
  readonly deciding: ReadonlyMap<string, string>;
};

/** The commit that is checked out, and its files below a folder; null if there is none, or if git is not installed. */
export async function headOf(repository: Repository, folder: string, stop: Stop): Promise<Head | null> {
  const commit = await headCommit(repository, stop);
  if (commit === null) return null;
  const prefix = prefixIn(repository, folder);
  const blobs = new Map<string, string>();
  const submodules: string[] = [];
  const links: string[] = [];
  const deciding = new Map<string, string>();
  // Sizes are left out: in a partial clone, git would need the blobs of files that are not checked out.
  for (const { mode, blob, path } of await listTree(repository, commit, stop, { withSizes: false })) {
    if (isDeciding(path, prefix) && mode.startsWith("100")) deciding.set(relative(prefix, path), blob);
    if (!path.startsWith(prefix)) continue;
    if (mode.startsWith("100")) blobs.set(path.slice(prefix.length), blob);
    else if (mode === LINK_MODE) links.push(path.slice(prefix.length));
    else if (mode === SUBMODULE_MODE) submodules.push(path.slice(prefix.length));
  }
  return { commit, format: objectFormatOf(commit), blobs, links, submodules, deciding };
}

// The configuration of the folder itself, and ignore files in it, below it and above it.
function isDeciding(path: string, prefix: string): boolean {
  const name = basename(path);
  const folder = path.slice(0, -name.length);
  if (name === CONFIG_NAME) return folder === prefix;
  return name === OWN_IGNORE_FILE && (folder.startsWith(prefix) || prefix.startsWith(folder));
}

/**
 * Every entry of a commit's tree, or those at some paths, by full commit id; sizes are 0 unless requested. A tree can name
 * one folder many times, so it is read as it is listed, and refused beyond the limit.
 */
export async function listTree(
  repository: Repository,
  commit: string,
  stop: Stop,
  options: Listing = {},
): Promise<readonly TreeEntry[]> {
  const { reads } = repository;
  if (reads === undefined) return listed(repository, commit, stop, options);
  const index = await sharedTree(repository, reads, commit, stop);
  return options.paths === undefined ? index.entries : entriesBelow(index, options.paths);
}

type Listing = {
  readonly withSizes?: boolean;
  /** @default all */
  readonly paths?: readonly string[];
  /** The number of entries beyond which it is refused. */
  readonly most?: number;
};

/** The entries of a commit's tree at some paths and what decides about them, perhaps others too; and the whole tree. */
export async function listTreeAround(
  repository: Repository,
  commit: string,
  stop: Stop,
  { paths, most }: { readonly paths: readonly string[]; readonly most: number },
): Promise<{ readonly around: readonly TreeEntry[]; readonly all: readonly TreeEntry[] }> {
  const { reads } = repository;
  if (reads === undefined) {
    const all = await listed(repository, commit, stop, { most });
    return { around: all, all };
  }
  const index = await sharedTree(repository, reads, commit, stop);
  return { around: entriesAround(index, paths), all: index.entries };
}

function sharedTree(repository: Repository, reads: CommitReads, commit: string, stop: Stop): Promise<TreeIndex> {
  return reads.trees(commit, stop, async () => indexOf(await listed(repository, commit, stop, {}), OWN_IGNORE_FILE));
}

async function listed(
  repository: Repository,
  commit: string,
  { signal }: Stop,
  { withSizes = true, paths = [], most = defaultLimits.entries }: Listing,
): Promise<readonly TreeEntry[]> {
  const options = ["-r", "-z", ...(withSizes ? ["-l"] : []), "--full-tree"];
  const args = ["--literal-pathspecs", "ls-tree", ...options, commit, "--", ...paths];
  const entries: TreeEntry[] = [];
  const take = records((record) => {
    entries.push(...readEntry(record));
    if (entries.length > most) throw tooMany(most, "files");
  });
  const run = { folder: folderOf(repository), env: environmentOf(repository), signal };
  const { code, stderr } = await runGit(args, { ...run, take }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw error instanceof HoldfastError ? error : repositoryFailure(repository, error);
  });
  if (code !== 0) throw repositoryFailure(repository, new Error(stderr));
  return entries;
}

/** All paths of a listing together; far more than any repository of manifests has. */
const MAX_LISTING = 256 * 1024 * 1024;

/** Splits output that ends each record with a NUL, as it arrives. */
function records(give: (record: string) => void): (part: Buffer) => void {
  let rest: Buffer[] = [];
  let size = 0;
  return (part) => {
    size += part.length;
    if (size > MAX_LISTING) throw tooMany(MAX_LISTING, "bytes in the names of its files");
    let from = 0;
    for (let end = part.indexOf(0); end !== -1; end = part.indexOf(0, from)) {
      const piece = part.subarray(from, end);
      give((rest.length === 0 ? piece : Buffer.concat([...rest, piece])).toString("utf8"));
      rest = [];
      from = end + 1;
    }
    if (from < part.length) rest.push(part.subarray(from));
  };
}

/** More changed files than are ever read one by one. */
const MAX_CHANGES = 20_000;
/** Git collects all differences before it prints the first one: those of trees that name one folder many times have no end. */
const DIFF_MS = 5000;

/** The differences between the trees of two commits; null if git cannot compare them, or if there are too many. */
export function diffTrees(
  repository: Repository,
  commits: { readonly before: string; readonly commit: string },
  pace: Pace,
): Promise<readonly TreeChange[] | null> {
  const compare = () => compareTrees(repository, commits, pace);
  return repository.reads?.changes(`${commits.before} ${commits.commit}`, pace, compare) ?? compare();
}

async function compareTrees(
  repository: Repository,
  { before, commit }: { readonly before: string; readonly commit: string },
  { clock, signal }: Pace,
): Promise<readonly TreeChange[] | null> {
  const options = ["-r", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none"];
  const changes: TreeChange[] = [];
  let word: string | null = null;
  const take = records((record) => {
    if (word === null) {
      word = record;
      return;
    }
    changes.push(changeOf(word, record));
    word = null;
    if (changes.length > MAX_CHANGES) throw tooMany(MAX_CHANGES, "changed files");
  });
  const stopping = AbortSignal.any([signal, clock.timeout(DIFF_MS)]);
  const run = { folder: folderOf(repository), env: environmentOf(repository), signal: stopping, take };
  try {
    const { code } = await runGit(["diff-tree", ...options, before, commit], run);
    return code === 0 ? changes : null;
  } catch {
    signal.throwIfAborted();
    return null;
  }
}

// `:100644 100644 <before> <after> M`, followed by the path.
function changeOf(word: string, path: string): TreeChange {
  const [before = "", mode = "", , blob = "", status = ""] = word.slice(1).split(" ");
  return { path, blob, isContent: status === "M" && before.startsWith("100") && mode.startsWith("100") };
}

function readEntry(line: string): readonly TreeEntry[] {
  const tab = line.indexOf("\t");
  const [mode = "", , blob = "", size = "-"] = line.slice(0, Math.max(0, tab)).split(/ +/);
  return tab < 0 ? [] : [{ mode, blob, size: size === "-" ? 0 : Number(size), path: line.slice(tab + 1) }];
}
