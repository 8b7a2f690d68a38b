import { join, posix } from "node:path";
import type { Stop } from "../../clock/clock.ts";
import type { Stamp } from "../file-stamp.ts";
import { fileStatus, readRegularFile } from "../read-regular-file.ts";
import { blobId } from "./blobs.ts";
import { type IndexView, isTakenFromIndex, openIndexView } from "./index-view.ts";
import { prefixIn } from "./repository-paths.ts";
import type { Head } from "./tree.ts";

/** The content that a file has now, by its path relative to the root; null if it no longer exists. */
export type FileChange = { readonly path: string; readonly bytes: Uint8Array | null };

type Place = {
  readonly root: string;
  readonly head: Pick<Head, "blobs" | "format">;
  readonly isForeign: boolean;
  /** The size in bytes of the largest file that is read. */
  readonly limit: number;
};

/** Those of a few files, by path relative to the root (`../…` above it), that git does not call unchanged since the commit. */
export async function changedFiles(
  paths: readonly string[],
  { root, head, isForeign, limit }: Place,
  stop: Stop,
): Promise<readonly FileChange[]> {
  const differing = paths.flatMap((path) => differenceAt(path, { root, head, isForeign, limit }));
  if (differing.length === 0) return [];
  using view = await openIndexView(root, { isForeign, ...stop });
  if (view === null) return differing;
  const unchanged = await unchangedPaths(differing, { view, root, head }, stop);
  return differing.filter(({ path }) => !unchanged.has(path));
}

type Difference = FileChange & { readonly stamp: Stamp | null };

function differenceAt(path: string, { root, head, limit }: Place): readonly Difference[] {
  const opened = readRegularFile(join(root, path), limit);
  const known = head.blobs.get(path) ?? null;
  if (opened.is === "gone") return known === null ? [] : [{ path, bytes: null, stamp: null }];
  if (opened.is !== "read" || blobId(opened.bytes, head.format) === known) return [];
  return [{ path, bytes: opened.bytes, stamp: opened.stamp }];
}

async function unchangedPaths(
  differing: readonly Difference[],
  { view, root, head }: Pick<Place, "root" | "head"> & { readonly view: IndexView },
  stop: Stop,
): Promise<ReadonlySet<string>> {
  const prefix = prefixIn(view.repository, root);
  // What is staged is a change too.
  const committed = differing.flatMap(({ path, stamp }) => {
    const entry = view.entries.get(posix.join(prefix, path));
    return entry === undefined || entry.blob !== head.blobs.get(path) ? [] : [{ path, stamp, entry }];
  });
  const isTaken = ({ path, entry }: (typeof committed)[number]): boolean =>
    isTakenFromIndex(view, entry, fileStatus(join(root, path)) !== undefined);
  const looked = committed.flatMap(({ path, stamp, entry }) =>
    stamp === null ? [] : [{ path: posix.join(prefix, path), stamp, entry }],
  );
  const equal = await view.unchangedAmong(looked, stop);
  return new Set(
    committed.filter((one) => isTaken(one) || equal.has(posix.join(prefix, one.path))).map(({ path }) => path),
  );
}
