import type { Clock } from "../../clock/clock.ts";
import type { SealKey } from "../../seal/seal-key.ts";
import { readSealed, writeSealed } from "../../seal/sealed-file.ts";
import { storageErrorAt } from "../../store/store-error.ts";
import type { StateCache } from "../state.ts";

/** A cache in a sealed file. It is read once: a process that uses a folder for longer has it to itself. */
export function cacheFile(
  path: string,
  { key, about: name, clock }: { readonly key: SealKey; readonly about: string; readonly clock: Clock },
): StateCache {
  let isKnown = false;
  return {
    readNew: async () => {
      if (isKnown) return null;
      isKnown = true;
      return readSealed(path, key, name);
    },
    write: async (content) => {
      const failure = writeSealed(path, { key, name, clock }, content);
      return failure === null ? null : storageErrorAt(path, failure);
    },
  };
}
