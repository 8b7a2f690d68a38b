import { join } from "node:path";
import { basename } from "node:path/posix";
import type { Stop } from "../clock/clock.ts";
import { relativePath } from "../files/real-path.ts";
import { blobId, blobSizes, readBlobs } from "./git/blobs.ts";
import { objectFormatOf } from "./git/git.ts";
import { type IndexView, isTakenFromIndex } from "./git/index-view.ts";
import { prefixIn } from "./git/repository-paths.ts";
import { requirePresent, selectionOf, type TreeSelection } from "./git/select-tree-entries.ts";
import { isBelow } from "./git/tree-entry.ts";
import { IGNORE_FILE_BYTES, OWN_IGNORE_FILE, openIgnoreFiles, scopesOf } from "./ignore-files.ts";
import { fileStatus, readRegularFile } from "./read-regular-file.ts";
import type { FolderWalk } from "./walk-folder.ts";

/**
 * Which tracked paths of a checkout are read, relative to its top. Only Holdfast's own ignore files count for them: those
 * of the folder, or of the index.
 */
export async function trackedSelection(walk: FolderWalk, view: IndexView, stop: Stop): Promise<TreeSelection> {
  const { repository, entries } = view;
  const { top } = repository;
  const prefix = prefixIn(repository, walk.root);
  const starts = walk.starts.map((start) => (prefix + start).replace(/\/$/, ""));
  const shown = (path: string): string => relativePath(walk.cwd, path);
  const tracked = [...entries].flatMap(([path, entry]) => {
    if (basename(path) !== OWN_IGNORE_FILE || entry.blob === null) return [];
    const folder = path.slice(0, -OWN_IGNORE_FILE.length).replace(/\/$/, "");
    const isNear = starts.some((start) => isBelow(folder, start) || isBelow(start, folder));
    return isNear ? [{ folder, path, blob: entry.blob, entry }] : [];
  });
  const opened = tracked.flatMap(({ path, blob, entry }) => {
    const file = readRegularFile(join(top, path), IGNORE_FILE_BYTES);
    const isOther = file.is === "read" && blobId(file.bytes, objectFormatOf(blob)) !== blob;
    return isOther ? [{ path, entry, stamp: file.stamp }] : [];
  });
  const unchanged = await view.unchangedAmong(opened, stop);
  const ofIndex = tracked.filter(({ path, entry }) => {
    return unchanged.has(path) || isTakenFromIndex(view, entry, fileStatus(join(top, path)) !== undefined);
  });
  const blobs = ofIndex.map(({ blob }) => blob);
  const sizes = await blobSizes(repository, blobs, stop);
  requirePresent(ofIndex.map(({ path }, index) => ({ path, size: sizes[index] ?? Number.NaN })));
  const contents = await readBlobs(repository, blobs, stop);
  const texts = new Map(ofIndex.map(({ folder }, index) => [folder, Buffer.from(contents[index] ?? []).toString()]));
  const policies = (walk.patches?.policies ?? []).map((folder) => prefix + folder);
  return selectionOf(starts, policies, (folder, above) => {
    const place = join(top, folder, OWN_IGNORE_FILE);
    const text = texts.get(folder);
    const files = text === undefined ? openIgnoreFiles([place], shown) : [{ display: shown(place), text, isOwn: true }];
    const { scopes } = scopesOf(folder === "" ? "" : `${folder}/`, files, { above });
    return scopes.length === 0 ? above : [...above, ...scopes];
  });
}
