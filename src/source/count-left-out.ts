import { type Dirent, readdirSync } from "node:fs";
import { isManifestFile, isSkippedName } from "./ignore-files.ts";
import { type FolderWalk, placeOf } from "./walk-folder.ts";

/** How many entries of ignored folders are looked at: a folder of build results may be large. */
const MAX_ENTRIES = 5000;

/** The files that ignore files leave out. */
export type LeftOutFiles = {
  /** Their number, by the ignore file as reports name it. */
  readonly leftOut: ReadonlyMap<string, number>;
  /** Set if there may be more of them: the content of large folders is not counted to the end. */
  readonly isLeftOutMore?: true;
};

/** Counts the files that ignore files leave out of a folder, without those that were read after all. */
export function countLeftOut(walk: FolderWalk, wasRead: (path: string) => boolean): LeftOutFiles {
  const counts = new Map<string, number>();
  const counted = new Set<string>();
  let budget = MAX_ENTRIES;
  for (const [path, { scope, isFolder }] of walk.leftOut) {
    for (const file of isFolder ? filesBelow(walk, path, () => budget-- > 0) : [path]) {
      if (counted.has(file) || wasRead(file)) continue;
      counted.add(file);
      counts.set(scope.file, (counts.get(scope.file) ?? 0) + 1);
    }
  }
  return { leftOut: counts, ...(budget < 0 ? { isLeftOutMore: true } : {}) };
}

function* filesBelow(walk: FolderWalk, folder: string, takes: () => boolean): Generator<string> {
  const entries = entriesOf(placeOf(walk, folder));
  // Another checkout has files of its own.
  if (entries.some(({ name }) => name === ".git")) return;
  for (const entry of entries) {
    if (!takes()) return;
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory() && !isSkippedName(entry.name)) yield* filesBelow(walk, path, takes);
    else if (entry.isFile() && isManifestFile(entry.name)) yield path;
  }
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
