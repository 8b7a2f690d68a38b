import { isDeepStrictEqual } from "node:util";
import { type WatchOptions, watchSource } from "../source/watch.ts";

/** Watches a source, wherever its configuration says that it lies. */
export type SourceWatcher = {
  /** Watches these paths from now on, everything without; answers whether they are others than before. */
  readonly follow: (paths: readonly string[] | null) => Promise<boolean>;
};

/** A watcher that watches nothing yet; it ends with the signal. */
export function createSourceWatcher(
  options: Omit<WatchOptions, "paths">,
  { signal }: { readonly signal: AbortSignal },
): SourceWatcher {
  let watched: readonly string[] | null | undefined;
  let current = new AbortController();
  return {
    follow: async (paths) => {
      if (watched !== undefined && isDeepStrictEqual(watched, paths)) return false;
      const next = new AbortController();
      await watchSource(
        { ...options, ...(paths === null ? {} : { paths }) },
        { signal: AbortSignal.any([signal, next.signal]) },
      );
      // Only now, so that no change goes unseen.
      current.abort();
      current = next;
      watched = paths;
      return true;
    },
  };
}
