import { realpathSync } from "node:fs";
import { setInterval } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { type WatchOptions, watchSource } from "../source/watch.ts";

/** How often the links that lead to a source are followed anew: its own file events tell nothing of them. */
const LINK_CHECK_MS = 500;

/** Watches a source, wherever its configuration says that it lies. */
export type SourceWatcher = {
  /** Watches these paths of the folder that the source is now, everything without; answers whether they are others than before. */
  readonly follow: (paths: readonly string[] | null) => Promise<boolean>;
};

/** A watcher that watches nothing yet; it ends with the signal. */
export function createSourceWatcher(
  options: Omit<WatchOptions, "paths">,
  { signal }: { readonly signal: AbortSignal },
): SourceWatcher {
  let watched: { readonly root: string; readonly paths: readonly string[] | null } | null = null;
  let latestRoot: string | null = null;
  let current = new AbortController();
  const watchLinks = async (): Promise<void> => {
    for await (const _ of setInterval(LINK_CHECK_MS, undefined, { signal, ref: false })) {
      const root = realPath(options.root);
      if (root === null || root === latestRoot) continue;
      latestRoot = root;
      options.onChange();
    }
  };
  const onLinkTrouble = (error: unknown): void => {
    if (!signal.aborted) options.onTrouble(error);
  };
  return {
    follow: async (paths) => {
      const root = realPath(options.root);
      // Whoever reads the source says that it is not there.
      if (root === null || isDeepStrictEqual(watched, { root, paths })) return false;
      if (latestRoot === null) watchLinks().catch(onLinkTrouble);
      latestRoot = root;
      const next = new AbortController();
      await watchSource(
        { ...options, root, ...(paths === null ? {} : { paths }) },
        { signal: AbortSignal.any([signal, next.signal]) },
      );
      // Only now, so that no change goes unseen.
      current.abort();
      current = next;
      watched = { root, paths };
      return true;
    },
  };
}

function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}
