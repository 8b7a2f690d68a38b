import { createHash } from "node:crypto";
import { join } from "node:path";
import type { SealKey } from "../seal/key.ts";
import { readSealed, writeSealed } from "../seal/sealed-file.ts";
import { type KnownSource, NO_SOURCE } from "./known-source.ts";
import { readSourceText, writeSourceText } from "./source-text.ts";

/** Where what is known of one source is kept. */
export type SourceCache = {
  readonly load: () => KnownSource;
  readonly save: (source: KnownSource) => void;
};

/** What decides how the same bytes are read. */
export type ReadBy = {
  /** Names the build of the program. */
  readonly build: string;
  /** Everything else that reading one file depends on. */
  readonly rules: unknown;
  /** Told why it could not be kept. */
  readonly onLost?: (path: string, error: unknown) => void;
};

/**
 * Keeps what is known of a source in a sealed file: whatever cannot be read, was read by other rules or by another
 * build, or is of another source counts as nothing.
 */
export function sourceCacheIn(
  folder: string,
  root: string,
  key: SealKey,
  { build, rules, onLost }: ReadBy,
): SourceCache {
  const place = createHash("sha256").update(root).digest("hex").slice(0, 16);
  const path = join(folder, `source-${place}`);
  const name = `source ${root} by ${build} with ${JSON.stringify(rules)}`;
  return {
    load: () => {
      const text = readSealed(path, key, name);
      return text === null ? NO_SOURCE : readSourceText(text);
    },
    save: (source) => {
      const failure = writeSealed(path, key, name, writeSourceText(source));
      if (failure !== null) onLost?.(path, failure);
    },
  };
}
