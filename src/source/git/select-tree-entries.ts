import { join, posix, relative, sep } from "node:path";
import { basename } from "node:path/posix";
import type { Stop } from "../../clock/clock.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import { HoldfastError } from "../../core/errors.ts";
import {
  IGNORE_FILE_BYTES,
  type IgnoreFile,
  ignoringScope,
  isHiddenBy,
  isManifestFile,
  isSkippedName,
  OWN_IGNORE_FILE,
  type Scope,
  scopesOf,
} from "../ignore-files.ts";
import { type Limits, tooMany } from "../limits.ts";
import { type Pace, pacer } from "../pacer.ts";
import { isOfPolicies } from "../source-root.ts";
import { readBlobs } from "./blobs.ts";
import type { Repository } from "./repository-paths.ts";
import { isBelow, LINK_MODE, SUBMODULE_MODE, type TreeEntry } from "./tree-entry.ts";

type Place = {
  readonly root: string;
  readonly repository: Repository;
  /** The root's path in the repository. */
  readonly prefix: string;
  readonly cwd: string;
  readonly limits: Limits;
};

/** Where entries are selected. */
type SelectionPlace = Place & {
  /** The folders of policies, as paths in the repository. @default none */
  readonly policies?: readonly string[];
};

const MAX_TARGET_LENGTH = 4096;

type Selector = {
  /** Whether it selects a path, or the scope that leaves it out; null if it is no file to read. */
  readonly judge: (path: string) => "selected" | Scope | null;
  /** Whether it selects every file that a selector with this starting point would select. */
  readonly covers: (start: string) => boolean;
  /** Whether it looks into a folder. */
  readonly enters: (folder: string) => boolean;
};

/** The entries of a tree to read, and the faults of its ignore files. */
type Selected = {
  readonly entries: readonly TreeEntry[];
  /** Symbolic links that are not named like a manifest file, but may lead to a folder of manifests. */
  readonly links: readonly TreeEntry[];
  /** The number of files that an ignore file leaves out, by the ignore file. */
  readonly leftOut: ReadonlyMap<string, number>;
  readonly faults: readonly Diagnostic[];
};

/** Selects the entries of a tree by the same rules as the files of a folder. */
export async function selectTreeEntries(
  place: SelectionPlace,
  tree: readonly TreeEntry[],
  starts: readonly string[],
  pace: Pace,
): Promise<Selected> {
  const pause = pacer(pace);
  const faults = new Map<string, readonly Diagnostic[]>();
  const ownFiles = await ignoreFilesOf(place, tree, pace);
  const withScopeOf = (folder: string, above: readonly Scope[]): readonly Scope[] => {
    const files = ownFiles.get(folder);
    if (files === undefined) return above;
    const read = scopesOf(folder === "" ? "" : `${folder}/`, files, { above });
    faults.set(folder, read.faults);
    return read.scopes.length === 0 ? above : [...above, ...read.scopes];
  };
  const selection = selectionOf(starts, place.policies ?? [], withScopeOf);
  const entries: TreeEntry[] = [];
  const links: TreeEntry[] = [];
  const leftOut = new Map<string, number>();
  let linkCount = 0;
  for (const entry of tree) {
    const { mode, path } = entry;
    const judged = mode === SUBMODULE_MODE ? selection.judgeSubmodule(path) : selection.judge(path);
    if (mode === LINK_MODE && (judged === "selected" || selection.covers(path))) {
      linkCount += 1;
      if (linkCount > place.limits.links) throw tooMany(place.limits.links, "symbolic links");
    }
    if (judged === "selected") entries.push(entry);
    else if (mode === LINK_MODE && selection.covers(path)) links.push(entry);
    else if (judged !== null && mode.startsWith("100")) leftOut.set(judged.file, (leftOut.get(judged.file) ?? 0) + 1);
    const pausing = pause();
    if (pausing !== undefined) await pausing;
  }
  return { entries, links, leftOut, faults: [...faults.values()].flat() };
}

/** Which paths of a tree are read, below its starting points. */
export type TreeSelection = Pick<Selector, "judge" | "covers"> & {
  /** The same for a submodule, which is only warned about. */
  readonly judgeSubmodule: (path: string) => "selected" | null;
};

/**
 * Selects paths below starting points; `withScopeOf` adds the scopes of a folder's own ignore file to those above. No ignore
 * file applies in the folders of `policies`.
 */
export function selectionOf(
  starts: readonly string[],
  policies: readonly string[],
  scopesWithin: WithScopeOf,
): TreeSelection {
  const withScopeOf: WithScopeOf = (folder, above) =>
    isOfPolicies({ policies }, folder) ? [] : scopesWithin(folder, above);
  const selectors: Selector[] = [];
  for (const start of starts.toSorted((a, b) => a.length - b.length)) {
    if (!selectors.some(({ covers }) => covers(start))) selectors.push(selectorBelow(start, withScopeOf));
  }
  return {
    judge: (path) => {
      let found: Scope | null = null;
      for (const { judge } of selectors) {
        const judged = judge(path);
        if (judged === "selected") return judged;
        found ??= judged;
      }
      return found;
    },
    covers: (path) => selectors.some(({ covers }) => covers(path)),
    judgeSubmodule: (path) => {
      const isNamed = starts.some((start) => isBelow(start, path));
      return isNamed || selectors.some(({ enters }) => enters(path)) ? "selected" : null;
    },
  };
}

type Folder = {
  readonly isOpen: boolean;
  readonly scopes: readonly Scope[];
  /** The scope that leaves it out. */
  readonly leftOutBy: Scope | null;
};

const CLOSED: Folder = { isOpen: false, scopes: [], leftOutBy: null };

type WithScopeOf = (folder: string, above: readonly Scope[]) => readonly Scope[];

// A starting point is read even if an ignore file names it; that file then does not apply below.
function selectorBelow(start: string, withScopeOf: WithScopeOf): Selector {
  const above = foldersAbove(start).reduce((scopes: readonly Scope[], folder) => withScopeOf(folder, scopes), []);
  const applied = above.filter((scope) => !isHiddenBy(scope, start));
  const known = new Map<string, Folder>([
    [start, { isOpen: true, scopes: withScopeOf(start, applied), leftOutBy: null }],
  ]);
  const open = (folder: string, above: Folder): Folder => {
    if (isSkippedName(basename(folder))) return CLOSED;
    if (!above.isOpen) return above;
    const leftOutBy = ignoringScope(above.scopes, folder, true);
    if (leftOutBy !== null) return { ...CLOSED, leftOutBy };
    return { ...above, scopes: withScopeOf(folder, above.scopes) };
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
  const judge = (path: string): "selected" | Scope | null => {
    if (!isBelow(path, start) || !isManifestFile(basename(path))) return null;
    if (path === start) return "selected";
    const { isOpen, scopes, leftOutBy } = folderAt(parentOf(path));
    return isOpen ? (ignoringScope(scopes, path, false) ?? "selected") : leftOutBy;
  };
  const covers = (other: string): boolean => {
    if (!isBelow(other, start) || isManifestFile(basename(other))) return judge(other) === "selected";
    const { isOpen, scopes } = folderAt(other);
    return isOpen && !scopes.some((scope) => isHiddenBy(scope, other));
  };
  return { judge, covers, enters: (folder) => isBelow(folder, start) && folderAt(folder).isOpen };
}

function foldersAbove(path: string): readonly string[] {
  const steps = path === "" ? [] : path.split("/");
  return steps.map((_, index) => steps.slice(0, index).join("/"));
}

const parentOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf("/")));

/** Holdfast's ignore file of each folder that is not skipped by its name. The files of a commit are all tracked. */
async function ignoreFilesOf(
  { root, prefix, cwd, repository, limits }: Place,
  tree: readonly TreeEntry[],
  stop: Stop,
): Promise<ReadonlyMap<string, readonly IgnoreFile[]>> {
  const entries = tree.filter(
    ({ mode, path }) =>
      mode.startsWith("100") && basename(path) === OWN_IGNORE_FILE && !parentOf(path).split("/").some(isSkippedName),
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
  const files = entries.map(({ path }) => ({ path, display: shown(path), text: texts.get(path) ?? null, isOwn: true }));
  return Map.groupBy(files, ({ path }) => parentOf(path));
}

/** The links that lead to a folder of the commit; links that lead out of the commit are left out. */
export async function linksToFolders(
  place: Place,
  tree: readonly TreeEntry[],
  links: readonly TreeEntry[],
  stop: Stop,
): Promise<readonly TreeEntry[]> {
  if (links.length === 0) return [];
  const targets = await linkTargets(place, links, stop);
  const folders = foldersIn(tree);
  return links.filter(({ path }) => {
    const written = targets.get(path);
    if (written === undefined) return false;
    const target = posix.join(parentOf(path), written);
    return folders.has(/^\.\/?$/.test(target) ? "" : target.replace(/\/$/, ""));
  });
}

/** The targets of symbolic links by their paths, without those that are longer than any path. */
export async function linkTargets(
  { repository, limits }: Place,
  links: readonly TreeEntry[],
  stop: Stop,
): Promise<ReadonlyMap<string, string>> {
  requirePresent(links);
  const small = links.filter(({ size }) => size <= MAX_TARGET_LENGTH);
  refuseTooMuch(small, limits);
  const targets = await readBlobs(
    repository,
    small.map(({ blob }) => blob),
    stop,
  );
  return new Map(small.map(({ path }, index) => [path, Buffer.from(targets[index] ?? []).toString("utf8")]));
}

// Looking through the whole tree for each link would take a time that grows with their product.
function foldersIn(tree: readonly TreeEntry[]): ReadonlySet<string> {
  const folders = new Set([""]);
  for (const { path } of tree) {
    for (let folder = parentOf(path); !folders.has(folder); folder = parentOf(folder)) folders.add(folder);
  }
  return folders;
}

/** Refuses entries that a partial clone lacks: git does not know their size. */
export function requirePresent(entries: readonly Pick<TreeEntry, "path" | "size">[]): void {
  const missing = entries.find(({ size }) => Number.isNaN(size));
  if (missing === undefined) return;
  throw new HoldfastError("error", `git has no content for ${missing.path} of the commit`, {
    hint: "check the repository with git fsck; in a partial clone, fetch it: git fetch --refetch --no-filter origin",
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
