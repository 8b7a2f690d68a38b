import { join } from "node:path";
import type { Stop } from "../../clock/clock.ts";
import { fileStatus, readRegularFile } from "../read-regular-file.ts";
import { blobId, readBlobs } from "./blobs.ts";
import { objectFormatOf } from "./git.ts";
import { readGitIndex } from "./index-entries.ts";
import { isTakenFromIndex, openIndexView } from "./index-view.ts";
import { locateRepository, prefixIn, type Repository } from "./repository-paths.ts";

type Place = {
  readonly root: string;
  readonly isForeign: boolean;
  /** The size in bytes of the largest file that is read. */
  readonly limit: number;
};

/**
 * The content that git has in place of one file of a checkout, by path relative to the root, since it calls the file
 * unchanged although its bytes differ; null if the file itself counts.
 */
export async function readInPlace(path: string, place: Place, stop: Stop): Promise<Uint8Array | null> {
  const { root, isForeign, limit } = place;
  const located = locateRepository(root);
  if (located === null || located.top === null) return null;
  const opened = readRegularFile(join(root, path), limit);
  if (opened.is !== "read" && opened.is !== "gone") return null;
  const full = prefixIn(located, root) + path;
  if (!isForeign) {
    // Nearly always this one look suffices.
    const blob = await blobInIndex(located, full, stop);
    if (blob === null || (opened.is === "read" && blobId(opened.bytes, objectFormatOf(blob)) === blob)) return null;
  }
  using view = await openIndexView(root, { isForeign, paths: [full], ...stop });
  const entry = view?.entries.get(full);
  if (!view || entry === undefined || entry.blob === null) return null;
  const isThere = fileStatus(join(root, path)) !== undefined;
  const files = opened.is === "read" ? [{ path: full, stamp: opened.stamp, entry }] : [];
  const isUnchanged = isTakenFromIndex(view, entry, isThere) || (await view.unchangedAmong(files, stop)).has(full);
  const [content = null] = isUnchanged ? await readBlobs(view.repository, [entry.blob], stop) : [];
  return content;
}

// A `.git` folder that is no repository has none, and nothing can be said without git.
async function blobInIndex(repository: Repository, path: string, stop: Stop): Promise<string | null> {
  try {
    return (await readGitIndex(repository, { paths: [path], ...stop })).get(path)?.blob ?? null;
  } catch {
    stop.signal.throwIfAborted();
    return null;
  }
}
