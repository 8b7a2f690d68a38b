import { basename, dirname } from "node:path/posix";

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

/** A path that differs between two commits. */
export type TreeChange = {
  readonly path: string;
  /** The blob in the later commit. */
  readonly blob: string;
  /** Whether it is a regular file in both commits, so that only its content differs. */
  readonly isContent: boolean;
};

/** The entries of a tree in the order of git, and where those below each folder are. */
export type TreeIndex = {
  readonly entries: readonly TreeEntry[];
  /** The first entry below a folder, and the one after the last, by the path of the folder. */
  readonly ranges: ReadonlyMap<string, Range>;
  /** Ignore files and submodules, which also matter to what is read below or in them. */
  readonly deciding: readonly TreeEntry[];
};

type Range = { readonly from: number; readonly to: number };

/** Indexes all entries of a tree, so that what one of many targets reads of it is found without looking at the others. */
export function indexOf(entries: readonly TreeEntry[], ignoreFile: string): TreeIndex {
  const ranges = new Map<string, Range>();
  for (const [at, { path }] of entries.entries()) {
    for (let folder = dirname(path); folder !== "."; folder = dirname(folder))
      ranges.set(folder, { from: ranges.get(folder)?.from ?? at, to: at + 1 });
  }
  const isDeciding = ({ mode, path }: TreeEntry) => mode === SUBMODULE_MODE || basename(path) === ignoreFile;
  return { entries, ranges, deciding: entries.filter(isDeciding) };
}

/** Whether a path is the starting point or lies below it. */
export function isBelow(path: string, start: string): boolean {
  return start === "" || path === start || path.startsWith(`${start}/`);
}

/** The entries at or below these paths. */
export function entriesBelow(index: TreeIndex, paths: readonly string[]): readonly TreeEntry[] {
  if (paths.includes("")) return index.entries;
  const distinct = [...new Set(paths)];
  const outer = distinct.filter((path) => !distinct.some((other) => other !== path && isBelow(path, other)));
  return outer.flatMap((path) => {
    const range = index.ranges.get(path);
    return range === undefined ? fileAt(index, path) : index.entries.slice(range.from, range.to);
  });
}

/** The entries below these paths, and those above them that decide what is read there. */
export function entriesAround(index: TreeIndex, paths: readonly string[]): readonly TreeEntry[] {
  const above = index.deciding.filter(({ mode, path }) => {
    const folder = mode === SUBMODULE_MODE ? path : folderOf(path);
    return (
      paths.some((start) => start !== folder && isBelow(start, folder)) && !paths.some((start) => isBelow(path, start))
    );
  });
  return [...above, ...entriesBelow(index, paths)];
}

function fileAt({ entries, ranges }: TreeIndex, path: string): readonly TreeEntry[] {
  const folder = folderOf(path);
  const { from, to } = folder === "" ? { from: 0, to: entries.length } : (ranges.get(folder) ?? { from: 0, to: 0 });
  for (let at = from; at < to; at += 1) {
    const entry = entries[at];
    if (entry?.path === path) return [entry];
  }
  return [];
}

const folderOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf("/")));
