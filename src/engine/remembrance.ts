import { keepSealed, readSealed } from "../seal/file.ts";
import type { SealKey } from "../seal/key.ts";
import type { Remembrance } from "./accord.ts";
import { NOTHING, readRemembered, writeRemembered } from "./kept.ts";

/**
 * Keeps what is remembered of one control plane in a sealed file, for this build alone: whatever cannot be read, was
 * made by another build or for another server counts as nothing.
 */
export function remembranceIn(
  path: string,
  { server, key, build }: { readonly server: string; readonly key: SealKey; readonly build: string },
): Remembrance {
  const name = `remembrance of ${server} by ${build}`;
  return {
    load: () => readRemembered(readSealed(path, key, name) ?? NOTHING),
    save: (toRemember) => keepSealed(path, key, name, writeRemembered(toRemember)),
  };
}
