import { isObject, type Json } from "../../contract/json.ts";
import { isUntouched, type Stamp } from "../../source/file-stamp.ts";
import type { OnForgotten, StateCache } from "../../state/state.ts";
import type { UndigestedFile } from "./find-files.ts";
import type { VersionFile } from "./read-file.ts";

/** The digests of files of versions that earlier passes have read. A file with the same stamp is not read again. */
export type KnownDigests = {
  /** The digest of a file with a stamp; null if it must be read. */
  readonly find: (file: UndigestedFile, stamp: Stamp) => Promise<string | null>;
  /** Notes files that were read since a time in epoch milliseconds. */
  readonly note: (files: readonly VersionFile[], seenAt: number) => void;
  /** Stores what was noted for the next pass, if the state can be written. */
  readonly store: () => Promise<void>;
};

type Known = { readonly stamp: Stamp; readonly digest: string; readonly seenAt: number };

/** The most files whose digests are kept: those that were looked at last. */
const MOST_KNOWN = 200_000;

/** The digests that a cache of the state keeps; without one they are known in this process alone. */
export function knownDigests(cache: StateCache | null, onForgotten: OnForgotten | null): KnownDigests {
  const known = new Map<string, Known>();
  let isChanged = false;
  const load = async (): Promise<void> => {
    const text = (await cache?.readNew()) ?? null;
    if (text === null) return;
    for (const [real, one] of readKnown(text)) if (!known.has(real)) known.set(real, one);
  };
  return {
    find: async ({ real }, stamp) => {
      await load();
      const one = known.get(real);
      if (one === undefined || !isUntouched(stamp, one.stamp, one.seenAt)) return null;
      // The last ones are kept.
      known.delete(real);
      known.set(real, one);
      return one.digest;
    },
    note: (files, seenAt) => {
      for (const { real, stamp, digest } of files) {
        known.delete(real);
        known.set(real, { stamp, digest, seenAt });
      }
      isChanged ||= files.length > 0;
    },
    store: async () => {
      if (!isChanged || cache === null || onForgotten === null) return;
      isChanged = false;
      const kept = [...known].slice(-MOST_KNOWN);
      const failure = await cache.write(writtenKnown(kept));
      if (failure !== null) onForgotten("the digests of model files", failure);
    },
  };
}

function* writtenKnown(known: readonly (readonly [string, Known])[]): Generator<string> {
  yield "[";
  for (const [nth, [real, { stamp, digest, seenAt }]] of known.entries()) {
    const { size, modified, changed, inode } = stamp;
    yield `${nth === 0 ? "" : ","}${JSON.stringify([real, size, modified, changed, inode, digest, seenAt])}`;
  }
  yield "]";
}

function readKnown(text: string): readonly (readonly [string, Known])[] {
  const rows: Json = JSON.parse(text);
  if (!Array.isArray(rows) || isObject(rows)) return [];
  return rows.map((row: Json) => {
    const [real, size, modified, changed, inode, digest, seenAt] = Array.isArray(row) ? row : [];
    const stamp = { size: Number(size), modified: Number(modified), changed: Number(changed), inode: Number(inode) };
    return [String(real), { stamp, digest: String(digest), seenAt: Number(seenAt) }] as const;
  });
}
