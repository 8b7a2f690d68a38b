// src/source: the files of a revision: a folder, a checkout or a commit. See docs/manifests.md#which-files.

import type { Stop } from "../clock/clock.ts";
import { compareText } from "../contract/json.ts";
import { equalsHead, foldersTo, isIgnoredByGit, isWithin } from "./equals-head.ts";
import { isAboutSpecialFile, linkDiagnostic, submoduleWarning } from "./file-diagnostic.ts";
import type { FolderFile } from "./folder-file.ts";
import { blobSizes } from "./git/blobs.ts";
import type { IndexEntry } from "./git/index-entries.ts";
import { type DifferingFile, type IndexView, isTakenFromIndex, openIndexView } from "./git/index-view.ts";
import { readBlobFiles } from "./git/read-commit.ts";
import { prefixIn } from "./git/repository-paths.ts";
import { linksToFolders, linkTargets, type TreeSelection } from "./git/select-tree-entries.ts";
import type { Head } from "./git/tree.ts";
import { isBelow, LINK_MODE, SUBMODULE_MODE, type TreeEntry } from "./git/tree-entry.ts";
import { openManifestFile } from "./open-manifest-file.ts";
import type { Pace } from "./pacer.ts";
import { fileStatus } from "./read-regular-file.ts";
import type { SourceFile } from "./revision.ts";
import { trackedSelection } from "./tracked-selection.ts";
import { display, type FolderWalk, noPath, placeOf, warnOfSpecialFile } from "./walk-folder.ts";

/** The files of a checkout, and the paths below the root that its commit has and the checkout lacks. */
export type CheckoutRead = { readonly files: readonly SourceFile[]; readonly missing: readonly string[] };

/**
 * Reads a checkout: the files that git calls unchanged as the index has them, and the others as a walk found them.
 * Where every file equals the commit byte for byte, the index is not needed.
 */
export async function readCheckout(
  walk: FolderWalk,
  walked: readonly FolderFile[],
  head: Head,
  pace: Pace,
): Promise<CheckoutRead> {
  if (equalsHead(walk, walked, head)) {
    for (const path of head.submodules) if (isWithin(walk, path)) warnOfSubmodule(walk, path);
    return { files: walked, missing: [] };
  }
  using view = await openIndexView(walk.root, { isForeign: walk.isForeign ?? false, ...pace });
  if (view === null) return { files: walked, missing: [] };
  return await new Checkout(walk, view, await trackedSelection(walk, view, pace)).read(walked, head, pace);
}

function warnOfSubmodule(walk: FolderWalk, path: string): void {
  const warning = submoduleWarning(display(walk, path));
  const isKnown = walk.diagnostics.some(({ code, file }) => code === warning.code && file === warning.file);
  if (!isKnown) walk.diagnostics.push(warning);
}

type Tracked = { readonly path: string; readonly entry: IndexEntry };

/** One reading of a checkout whose files do not all equal its commit. */
class Checkout {
  readonly #walk: FolderWalk;
  readonly #view: IndexView;
  readonly #selection: TreeSelection;
  readonly #prefix: string;
  /** Files of the folder that are read, by path below the root. */
  readonly #files = new Map<string, FolderFile>();
  readonly #fromIndex: (Tracked & { readonly blob: string })[] = [];
  readonly #differing: (DifferingFile & Tracked & { readonly blob: string })[] = [];
  readonly #absentLinks: TreeEntry[] = [];
  readonly #links: TreeEntry[] = [];

  constructor(walk: FolderWalk, view: IndexView, selection: TreeSelection) {
    this.#walk = walk;
    this.#view = view;
    this.#selection = selection;
    this.#prefix = prefixIn(view.repository, walk.root);
  }

  async read(walked: readonly FolderFile[], head: Head, pace: Pace): Promise<CheckoutRead> {
    const walk = this.#walk;
    for (const file of walked) this.#files.set(file.path, file);
    const tracked = [...this.#view.entries].flatMap(([path, entry]) =>
      path.startsWith(this.#prefix) ? [{ path: path.slice(this.#prefix.length), entry }] : [],
    );
    for (const one of tracked) this.#judge(one);
    const unchanged = await this.#view.unchangedAmong(this.#differing, pace);
    for (const { path: full, entry, blob } of this.#differing) {
      if (unchanged.has(full)) this.#takeFromIndex({ path: full.slice(this.#prefix.length), entry, blob });
    }
    await this.#tellOfLinks(pace);
    await this.#warnOfAbsentLinks(tracked, pace);
    const files = [...this.#files.values(), ...(await this.#readFromIndex(pace))].toSorted((a, b) =>
      compareText(a.path, b.path),
    );
    const paths = new Set(files.map(({ path }) => path));
    const absent = walk.absentStarts.find((start) => !tracked.some(({ path }) => this.#explains(path, start, paths)));
    if (absent !== undefined) throw noPath(absent);
    const missing = [...head.blobs.keys()].filter((path) => !paths.has(path) && this.#isSelected(path));
    return { files, missing };
  }

  #explains(path: string, start: string, read: ReadonlySet<string>): boolean {
    const entry = this.#view.entries.get(this.#prefix + path);
    if (entry?.mode === SUBMODULE_MODE) return isBelow(start, path) || isBelow(path, start);
    return isBelow(path, start) && (read.has(path) || entry?.isSkipped === true);
  }

  #isSelected(path: string): boolean {
    return this.#selection.judge(this.#prefix + path) === "selected" && isWithin(this.#walk, path);
  }

  #judge({ path, entry }: Tracked): void {
    const full = this.#prefix + path;
    if (this.#isExcluded(path)) return;
    if (entry.mode === SUBMODULE_MODE) {
      this.#judgeSubmodule(path);
      return;
    }
    const judged = this.#selection.judge(full);
    if (judged === "selected") {
      if (entry.mode === LINK_MODE) this.#judgeLink({ path, entry });
      else this.#judgeFile({ path, entry });
      return;
    }
    if (entry.mode === LINK_MODE && this.#selection.covers(full)) this.#judgeFolderLink({ path, entry });
    else this.#withdrawWarning(path);
    this.#files.delete(path);
    if (judged !== null && entry.mode.startsWith("100")) {
      this.#walk.leftOut.set(path, { scope: judged, isFolder: false });
    }
  }

  // The walk saw it by ignore files in whose place git takes those of the index.
  #withdrawWarning(path: string): void {
    const shown = display(this.#walk, path);
    const { diagnostics } = this.#walk;
    const at = diagnostics.findIndex((one) => isAboutSpecialFile(one) && one.file === shown);
    if (at >= 0) diagnostics.splice(at, 1);
  }

  #isExcluded(path: string): boolean {
    const { excluded } = this.#walk;
    return excluded.size > 0 && foldersTo(path).some((each) => excluded.has(placeOf(this.#walk, each)));
  }

  #judgeSubmodule(path: string): void {
    if (this.#selection.judgeSubmodule(this.#prefix + path) === null) {
      this.#withdrawWarning(path);
      return;
    }
    for (const each of [...this.#files.keys()]) if (isBelow(each, path)) this.#files.delete(each);
    warnOfSubmodule(this.#walk, path);
  }

  #judgeFile({ path, entry }: Tracked): void {
    const walk = this.#walk;
    const file = this.#fileAt(path);
    const isThere = file !== null || walk.seen.has(path);
    const { blob } = entry;
    if (blob !== null && isTakenFromIndex(this.#view, entry, isThere)) {
      this.#takeFromIndex({ path, entry, blob });
      return;
    }
    if (file === null) return;
    this.#files.set(path, file);
    if (blob === null || file.blob === blob || file.blob === null) return;
    this.#differing.push({ path: this.#prefix + path, stamp: file.stamp, entry, blob });
  }

  #fileAt(path: string): FolderFile | null {
    return this.#files.get(path) ?? (this.#isNew(path) ? openManifestFile(this.#walk, path) : null);
  }

  // Not yet seen, since an ignore file for untracked files names it, and there, not behind a link.
  #isNew(path: string): boolean {
    const walk = this.#walk;
    if (walk.seen.has(path)) return false;
    const above = foldersTo(path).slice(0, -1);
    if (!above.every((folder) => fileStatus(placeOf(walk, folder))?.isDirectory())) return false;
    return fileStatus(placeOf(walk, path)) !== undefined;
  }

  #takeFromIndex(taken: Tracked & { readonly blob: string }): void {
    this.#files.delete(taken.path);
    this.#fromIndex.push(taken);
  }

  #judgeLink({ path, entry }: Tracked): void {
    const status = fileStatus(placeOf(this.#walk, path));
    const isPlainFile = status?.isFile() === true;
    const file = isPlainFile ? this.#fileAt(path) : null;
    // Without links, a checkout has a file with the target in its place.
    const isLink = isPlainFile ? !this.#view.hasLinks && file?.blob === entry.blob : status !== undefined;
    if (!isLink && !isTakenFromIndex(this.#view, entry, status !== undefined)) {
      if (file !== null) this.#files.set(path, file);
      return;
    }
    this.#files.delete(path);
    // The walk has told of those that are there.
    if (this.#isTold(path)) return;
    if (entry.blob === null) this.#walk.diagnostics.push(linkDiagnostic(display(this.#walk, path), null));
    else this.#links.push({ mode: entry.mode, blob: entry.blob, size: 0, path: this.#prefix + path });
  }

  #isTold(path: string): boolean {
    const shown = display(this.#walk, path);
    return this.#walk.diagnostics.some((one) => isAboutSpecialFile(one) && one.file === shown);
  }

  async #tellOfLinks(stop: Stop): Promise<void> {
    if (this.#links.length === 0) return;
    const targets = await linkTargets(this.#place(), this.#links, stop);
    for (const { path } of this.#links) {
      const shown = display(this.#walk, path.slice(this.#prefix.length));
      this.#walk.diagnostics.push(linkDiagnostic(shown, targets.get(path) ?? null));
    }
  }

  #judgeFolderLink({ path, entry: { mode, blob, ...entry } }: Tracked): void {
    const status = fileStatus(placeOf(this.#walk, path));
    const isTaken = isTakenFromIndex(this.#view, { mode, blob, ...entry }, status !== undefined);
    const isPlainFile = status?.isFile() === true && !this.#view.hasLinks;
    const isPassedOver = status?.isSymbolicLink() === true && isIgnoredByGit(this.#walk, path);
    if (blob === null || !(isTaken || isPlainFile || isPassedOver)) return;
    this.#absentLinks.push({ mode, blob, size: 0, path: this.#prefix + path });
  }

  async #warnOfAbsentLinks(tracked: readonly Tracked[], stop: Stop): Promise<void> {
    if (this.#absentLinks.length === 0) return;
    const tree = tracked.map(({ path, entry }) => ({
      mode: entry.mode,
      blob: entry.blob ?? "",
      size: 0,
      path: this.#prefix + path,
    }));
    for (const { path: full } of await linksToFolders(this.#place(), tree, this.#absentLinks, stop)) {
      const path = full.slice(this.#prefix.length);
      if (!this.#isTold(path)) warnOfSpecialFile(this.#walk, path, "a symbolic link to a folder");
    }
  }

  #place() {
    const { root, shownRoot = root, cwd, limits } = this.#walk;
    // What a repository of the user's own has can be read again later.
    const own = this.#walk.repository?.isTemporary ? null : this.#walk.repository;
    const repository = own ?? this.#view.repository;
    return { root: shownRoot, repository, prefix: this.#prefix, cwd, limits, isOurs: own !== null };
  }

  async #readFromIndex(pace: Pace): Promise<readonly SourceFile[]> {
    const sizes = await blobSizes(
      this.#view.repository,
      this.#fromIndex.map(({ blob }) => blob),
      pace,
    );
    const entries = this.#fromIndex.map(({ path, entry: { mode }, blob }, index) => ({
      mode,
      blob,
      size: sizes[index] ?? Number.NaN,
      path: this.#prefix + path,
    }));
    return readBlobFiles(this.#place(), entries, pace);
  }
}
