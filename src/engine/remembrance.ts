import { keepSealed, readSealed } from "../seal/file.ts";
import type { SealKey } from "../seal/key.ts";
import type { OnForgotten } from "../state/state.ts";
import { unusableAt } from "../store/store-error.ts";
import type { Remembrance } from "./accord.ts";
import { NOTHING, readRemembered, writeRemembered } from "./kept.ts";

/** Whose memory it is. */
export type RememberedFor = {
  readonly server: string;
  readonly key: SealKey;
  readonly build: string;
  /** Null where nothing can be kept, and that was told. */
  readonly onForgotten: OnForgotten | null;
};

/**
 * Keeps what is remembered of one control plane in a sealed file, for this build alone: whatever cannot be read, was
 * made by another build or for another server counts as nothing.
 */
export function remembranceIn(path: string, { server, key, build, onForgotten }: RememberedFor): Remembrance {
  const name = `remembrance of ${server} by ${build}`;
  return {
    load: () => readRemembered(readSealed(path, key, name) ?? NOTHING),
    save: (toRemember) => {
      if (onForgotten === null) return;
      const failure = keepSealed(path, key, name, writeRemembered(toRemember));
      if (failure !== null) onForgotten("what was read of the control plane", unusableAt(path, failure));
    },
  };
}
