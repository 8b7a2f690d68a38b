import { join } from "node:path";
import type { LoadRules } from "../manifests/load.ts";
import type { SealKey } from "../seal/key.ts";
import { defaultLimits } from "../source/limits.ts";
import { existingKey } from "../state/open.ts";
import type { StateLocation } from "../state/state.ts";
import { storageErrorAt } from "../store/store-error.ts";
import { type SourceCache, sourceCacheIn } from "./source-cache.ts";

/** Whose reading is cached: a source, read by rules, in a state folder. */
export type CachedSource = { readonly root: string; readonly rules: LoadRules; readonly state: StateLocation };

/** The cache of a source; null while there is no state folder, which reading a source does not make. */
export async function existingSourceCache(source: CachedSource): Promise<SourceCache | null> {
  const { folder, readKey } = source.state;
  const key = await existingKey(folder, { keyText: readKey() });
  return key === null ? null : sourceCache(key, source);
}

/** The cache of a source in a state folder with this key. */
export function sourceCache(key: SealKey, { root, rules, state }: CachedSource): SourceCache {
  const { unknownFields, allowLiteralSecrets } = rules;
  return sourceCacheIn(join(state.folder, "cache"), root, key, {
    build: state.build(),
    rules: { unknownFields, allowLiteralSecrets, limits: defaultLimits },
    onLost: (path, error) => state.onForgotten("what was read of the source", storageErrorAt(path, error)),
  });
}
