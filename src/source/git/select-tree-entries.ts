import { join, posix, relative, sep } from "node:path";
import type { Diagnostic } from "../../core/diagnostic.ts";
import { HoldfastError } from "../../core/errors.ts";
import {
  IGNORE_FILE_BYTES,
  type IgnoreFile,
  ignoreFiles,
  isHiddenBy,
  isIgnoredBy,
  isManifestFile,
  isSkippedName,
  type Scope,
  scopeOf,
} from "../ignore-files.ts";
import type { Limits } from "../limits.ts";
import { pacer } from "../pacer.ts";
import { readBlobs } from "./blobs.ts";
import { isBelow } from "./compare-to-commit.ts";
import type { Stop } from "./git.ts";
import type { Repository } from "./repository-paths.ts";
import type { TreeEntry } from "./tree.ts";

type Place = {
  readonly root: string;
  readonly repository: Repository;
  /** The root's path in the repository. */
  readonly prefix: string;
  readonly cwd: string;
  readonly limits: Limits;
};

/** The mode of a symbolic link in a tree. */
export const LINK_MODE = "120000";
const MAX_TARGET_LENGTH = 4096;

type Selector = {
  /** Whether it selects a path. */
  readonly selects: (path: string) => boolean;
  /** Whether it selects every file that a selector with this starting point would select. */
  readonly covers: (start: string) => boolean;
};

/** The entries of a tree to read, and the faults of its ignore files. */
type Selected = {
  readonly entries: readonly TreeEntry[];
  /** Symbolic links that are not named like a manifest file, but may lead to a folder of manifests. */
  readonly links: readonly TreeEntry[];
  readonly faults: readonly Diagnostic[];
};

/** Selects the entries of a tree by the same rules as the files of a folder. */
export async function selectTreeEntries(
  place: Place,
  tree: readonly TreeEntry[],
  starts: readonly string[],
  stop: Stop,
): Promise<Selected> {
  const pause = pacer(stop.signal);
  const faults = new Map<string, readonly Diagnostic[]>();
  const ownFiles = await ignoreFilesOf(place, tree, stop);
  const withScopeOf = (folder: string, above: readonly Scope[]): readonly Scope[] => {
    const files = ownFiles.get(folder);
    if (files === undefined) return above;
    const read = scopeOf(folder === "" ? "" : `${folder}/`, files, { above });
    faults.set(folder, read.faults);
    return read.scope === null ? above : [...above, read.scope];
  };
  const selectors: Selector[] = [];
  for (const start of starts.toSorted((a, b) => a.length - b.length)) {
    if (!selectors.some(({ covers }) => covers(start))) selectors.push(selectorBelow(start, withScopeOf));
  }
  const entries: TreeEntry[] = [];
  const links: TreeEntry[] = [];
  for (const entry of tree) {
    if (selectors.some(({ selects }) => selects(entry.path))) entries.push(entry);
    else if (entry.mode === LINK_MODE && selectors.some(({ covers }) => covers(entry.path))) links.push(entry);
    const pausing = pause();
    if (pausing !== undefined) await pausing;
  }
  return { entries, links, faults: [...faults.values()].flat() };
}

type Folder = { readonly isOpen: boolean; readonly scopes: readonly Scope[] };

const CLOSED: Folder = { isOpen: false, scopes: [] };

type WithScopeOf = (folder: string, above: readonly Scope[]) => readonly Scope[];

// A starting point is read even if an ignore file names it; that file then does not apply below.
function selectorBelow(start: string, withScopeOf: WithScopeOf): Selector {
  const above = foldersAbove(start).reduce((scopes: readonly Scope[], folder) => withScopeOf(folder, scopes), []);
  const applied = above.filter((scope) => !isHiddenBy(scope, start));
  const known = new Map<string, Folder>([[start, { isOpen: true, scopes: withScopeOf(start, applied) }]]);
  const open = (folder: string, { isOpen, scopes }: Folder): Folder => {
    if (!isOpen || isSkippedName(nameOf(folder)) || isIgnoredBy(scopes, folder, true)) return CLOSED;
    return { isOpen, scopes: withScopeOf(folder, scopes) };
  };
  const folderAt = (path: string): Folder => {
    const unknown: string[] = [];
    let at = path;
    for (; !known.has(at); at = parentOf(at)) unknown.push(at);
    let folder = known.get(at) ?? CLOSED;
    for (const each of unknown.toReversed()) {
      folder = open(each, folder);
      known.set(each, folder);
    }
    return folder;
  };
  const selects = (path: string): boolean => {
    if (!isBelow(path, start) || !isManifestFile(nameOf(path))) return false;
    if (path === start) return true;
    const { isOpen, scopes } = folderAt(parentOf(path));
    return isOpen && !isIgnoredBy(scopes, path, false);
  };
  const covers = (other: string): boolean => {
    if (!isBelow(other, start) || isManifestFile(nameOf(other))) return selects(other);
    const { isOpen, scopes } = folderAt(other);
    return isOpen && !scopes.some((scope) => isHiddenBy(scope, other));
  };
  return { selects, covers };
}

function foldersAbove(path: string): readonly string[] {
  const steps = path === "" ? [] : path.split("/");
  return steps.map((_, index) => steps.slice(0, index).join("/"));
}

const nameOf = (path: string) => path.slice(path.lastIndexOf("/") + 1);

const parentOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf("/")));

/** The ignore files of each folder that is not skipped by its name. */
async function ignoreFilesOf(
  { root, prefix, cwd, repository, limits }: Place,
  tree: readonly TreeEntry[],
  stop: Stop,
): Promise<ReadonlyMap<string, readonly IgnoreFile[]>> {
  const entries = tree.filter(
    ({ mode, path }) =>
      mode.startsWith("100") &&
      ignoreFiles.some((own) => own === nameOf(path)) &&
      !parentOf(path).split("/").some(isSkippedName),
  );
  requirePresent(entries);
  const small = entries.filter(({ size }) => size <= IGNORE_FILE_BYTES);
  refuseTooMuch(small, limits);
  const contents = await readBlobs(
    repository,
    small.map(({ blob }) => blob),
    stop,
  );
  const texts = new Map(small.map(({ path }, index) => [path, Buffer.from(contents[index] ?? []).toString("utf8")]));
  // Ignore files may lie above the root.
  const shown = (path: string) =>
    relative(cwd, join(root, relative(prefix, path)))
      .split(sep)
      .join("/");
  const files = entries.map(({ path }) => ({ path, display: shown(path), text: texts.get(path) ?? null }));
  return Map.groupBy(files, ({ path }) => parentOf(path));
}

/** The links that lead to a folder of the commit; links that lead out of the commit are left out. */
export async function linksToFolders(
  { repository, limits }: Place,
  tree: readonly TreeEntry[],
  links: readonly TreeEntry[],
  stop: Stop,
): Promise<readonly TreeEntry[]> {
  requirePresent(links);
  const small = links.filter(({ size }) => size <= MAX_TARGET_LENGTH);
  refuseTooMuch(small, limits);
  const targets = await readBlobs(
    repository,
    small.map(({ blob }) => blob),
    stop,
  );
  return small.filter(({ path }, index) => {
    const target = posix.join(parentOf(path), Buffer.from(targets[index] ?? []).toString("utf8"));
    return tree.some((entry) => entry.path.startsWith(/^\.\/?$/.test(target) ? "" : `${target.replace(/\/$/, "")}/`));
  });
}

/** Refuses entries that a partial clone lacks: git does not know their size. */
export function requirePresent(entries: readonly TreeEntry[]): void {
  const missing = entries.find(({ size }) => Number.isNaN(size));
  if (missing === undefined) return;
  throw new HoldfastError("error", `git has no content for ${missing.path} of the commit`, {
    hint: "check the repository with git fsck",
  });
}

/** Refuses entries that exceed the limit for the total size. */
export function refuseTooMuch(entries: readonly TreeEntry[], { totalBytes }: Limits): void {
  if (entries.reduce((sum, { size }) => sum + size, 0) <= totalBytes) return;
  const mebibytes = Math.floor(totalBytes / (1024 * 1024));
  throw new HoldfastError("invalid", `the commit's files hold more than ${mebibytes} MiB together`, {
    hint: "Narrow it with `paths`.",
  });
}
