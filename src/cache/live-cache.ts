import type { SealKey } from "../seal/key.ts";
import { readSealed, writeSealed } from "../seal/sealed-file.ts";
import type { OnForgotten } from "../state/state.ts";
import { unusableAt } from "../store/store-error.ts";
import type { LiveCache } from "./in-sync.ts";
import { NOTHING, readLiveText, writeLiveText } from "./live-text.ts";

/** Whose cache it is. */
export type LiveCacheFor = {
  readonly server: string;
  readonly key: SealKey;
  readonly build: string;
  /** Null where nothing can be kept, and that was told. */
  readonly onForgotten: OnForgotten | null;
};

/**
 * Keeps what is known of one control plane in a sealed file, for this build alone: whatever cannot be read, was
 * made by another build or for another server counts as nothing.
 */
export function liveCacheIn(path: string, { server, key, build, onForgotten }: LiveCacheFor): LiveCache {
  const name = `live cache of ${server} by ${build}`;
  return {
    load: () => readLiveText(readSealed(path, key, name) ?? NOTHING),
    save: (live) => {
      if (onForgotten === null) return;
      const failure = writeSealed(path, key, name, writeLiveText(live));
      if (failure !== null) onForgotten("what was read of the control plane", unusableAt(path, failure));
    },
  };
}
