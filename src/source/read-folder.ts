import { type Dirent, readdirSync } from "node:fs";
import type { Stop } from "../clock/clock.ts";
import { HoldfastError } from "../core/errors.ts";
import { type CheckoutRead, readCheckout } from "./checkout-files.ts";
import { isWithin } from "./equals-head.ts";
import type { FolderFile } from "./folder-file.ts";
import { changedFiles, type FileChange } from "./git/changed-files.ts";
import { commitOfFolder } from "./git/compare-to-commit.ts";
import { type Head, headOf } from "./git/tree.ts";
import { isManifestFile, isSkippedName } from "./ignore-files.ts";
import { defaultLimits, type Limits } from "./limits.ts";
import { openManifestFile } from "./open-manifest-file.ts";
import { type Pace, pacer } from "./pacer.ts";
import { filesByPath, type RevisionFiles } from "./revision.ts";
import { CONFIG_NAME, realRoot } from "./source-root.ts";
import { type FolderOptions, type FolderWalk, findManifestFiles, noPath, placeOf, startWalk } from "./walk-folder.ts";

/** The files of a folder, and those that its commit has and the folder lacks, by path below the root. */
export type FolderFiles = RevisionFiles & { readonly missing: readonly string[] };

/** Reads the files of a folder in their current state; those that git calls unchanged as the index has them. */
export async function readFolder(options: FolderOptions, pace: Pace): Promise<FolderFiles> {
  pace.signal.throwIfAborted();
  const root = realRoot(options.root);
  const { repository } = options;
  const head = repository === null || options.isUnreadable ? null : headOf(repository, root, pace);
  // Awaited after the files are read: until then, an unhandled rejection would end the process.
  head?.catch(() => undefined);
  const walk = startWalk({ ...options, root }, pace.clock.now());
  const pause = pacer(pace);
  const names = await findManifestFiles(walk, pause);
  const walked: FolderFile[] = [];
  let total = 0;
  for (const path of names) {
    const file = openManifestFile(walk, path);
    if (file !== null) walked.push(file);
    total += file?.heldBytes ?? 0;
    if (total > options.limits.totalBytes) throw tooLarge(options.limits);
    const pausing = pause();
    if (pausing !== undefined) await pausing;
  }
  const commit = (await head) ?? null;
  walk.place.head = commit;
  const { files, missing } = await filesOf(walk, walked, commit, pace);
  const byPath = filesByPath(files);
  const changed = commit === null ? [] : await changedDecidingFiles(walk, commit, pace);
  const checkedOut = commit === null ? { commit } : commitOfFolder(files, commit, missing.length + changed.length);
  const leftOut = countLeftOut(walk, (path) => byPath.named(path) !== undefined);
  const { at, diagnostics } = walk;
  return { ...checkedOut, at, root, files, filesByPath: byPath, diagnostics, ...leftOut, missing };
}

async function filesOf(
  walk: FolderWalk,
  walked: readonly FolderFile[],
  head: Head | null,
  pace: Pace,
): Promise<CheckoutRead> {
  if (head !== null) return readCheckout(walk, walked, head, pace);
  const [absent] = walk.absentStarts;
  if (absent !== undefined) throw noPath(absent);
  return { files: walked, missing: [] };
}

// By another configuration or other ignore files, the folder has other manifests than the commit.
function changedDecidingFiles(walk: FolderWalk, head: Head, stop: Stop): Promise<readonly FileChange[]> {
  const { root, isForeign = false } = walk;
  const committed = head.deciding.keys().filter((path) => path.startsWith("../") || isWithin(walk, path));
  const paths = new Set([CONFIG_NAME, ...walk.ownIgnoreFiles, ...committed]);
  const at = { root, head: { ...head, blobs: head.deciding }, isForeign, limit: defaultLimits.fileBytes };
  return changedFiles([...paths], at, stop);
}

function tooLarge({ totalBytes }: Limits): HoldfastError {
  const mebibytes = Math.floor(totalBytes / (1024 * 1024));
  return new HoldfastError("invalid", `the source's manifest files hold more than ${mebibytes} MiB together`, {
    hint: "Narrow it with `paths`, or list files that are not manifests in .holdfastignore.",
  });
}

/** How many entries of ignored folders are looked at: a folder of build results may be large. */
const MAX_ENTRIES = 5000;

/** The files that ignore files leave out. */
type LeftOutFiles = {
  /** Their number, by the ignore file as reports name it. */
  readonly leftOut: ReadonlyMap<string, number>;
  /** Set if there may be more of them: the content of large folders is not counted to the end. */
  readonly isLeftOutMore?: true;
};

/** Counts the files that ignore files leave out of a folder, without those that were read after all. */
function countLeftOut(walk: FolderWalk, wasRead: (path: string) => boolean): LeftOutFiles {
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
