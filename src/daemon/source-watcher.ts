import { join } from "node:path";
import { setInterval } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { branchOf, locateRepository } from "../source/git/repository-paths.ts";
import { lookAt } from "../source/read-regular-file.ts";
import { realRoot } from "../source/source-root.ts";
import { type WatchOptions, watchSource } from "../source/watch-source.ts";

/** How often it is looked at what the events of a source's own files tell nothing of: links to it, commits in its checkout. */
const CHECK_MS = 500;

type WatcherOptions = Omit<WatchOptions, "paths"> & {
  /** Whether a commit counts as a change though it changes no file. */
  readonly watchesCommits: boolean;
};

/** Watches a source, wherever its configuration says that it lies. */
export type SourceWatcher = {
  /** Watches these paths of the folder that the source is now, everything without; answers whether they are others than before. */
  readonly follow: (paths: readonly string[] | null) => Promise<boolean>;
};

/** A watcher that watches nothing yet; it ends with the signal. */
export function createSourceWatcher(
  { watchesCommits, ...options }: WatcherOptions,
  { signal }: { readonly signal: AbortSignal },
): SourceWatcher {
  let watched: { readonly root: string; readonly paths: readonly string[] | null } | null = null;
  let latest: string | null = null;
  let current = new AbortController();
  const check = async (): Promise<void> => {
    for await (const _ of setInterval(CHECK_MS, undefined, { signal, ref: false })) {
      const state = stateOf(options.root, watchesCommits);
      if (state === null || state === latest) continue;
      latest = state;
      options.onChange();
    }
  };
  const onCheckTrouble = (error: unknown): void => {
    if (!signal.aborted) options.onTrouble(error);
  };
  return {
    follow: async (paths) => {
      const root = rootNow(options.root);
      // Whoever reads the source says that it is not there.
      if (root === null || isDeepStrictEqual(watched, { root, paths })) return false;
      if (latest === null) check().catch(onCheckTrouble);
      latest = stateOf(root, watchesCommits);
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

function rootNow(path: string): string | null {
  try {
    return realRoot(path);
  } catch {
    return null;
  }
}

function stateOf(path: string, watchesCommits: boolean): string | null {
  const root = rootNow(path);
  if (root === null || !watchesCommits) return root;
  try {
    const repository = locateRepository(root);
    if (repository === null) return root;
    const { gitFolder, commonFolder } = repository;
    // Whatever begins or ends in a checkout makes or removes a file in git's folder; a commit moves its branch.
    const changing = [gitFolder, join(commonFolder, "refs", "heads", branchOf(repository) ?? "")];
    return [root, ...changing.map((path) => lookAt(path)?.mtimeMs)].join(" ");
  } catch {
    return null;
  }
}
