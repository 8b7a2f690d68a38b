import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Stop } from "../clock/clock.ts";
import { branchOf, locateRepository } from "../source/git/repository-paths.ts";
import { fileStatus } from "../source/read-regular-file.ts";
import { realRoot } from "../source/source-root.ts";
import { type SourceWatch, type WatchOptions, watchSource } from "../source/watch-source.ts";

/** Interval of the check for changes that cause no file event: links to the source, and commits in its checkout. */
const CHECK_MS = 500;
/** Watches the files of a source. */
export type SourceWatcher = {
  /** Watches these paths of the source's current folder, all of it if null; returns whether the folder or the paths changed. */
  readonly follow: (paths: readonly string[] | null) => Promise<boolean>;
  /** Resolves when no change is waiting to be reported: then no file is known to be half-written. */
  readonly settled: () => Promise<void>;
};

/** Creates a watcher; it watches from the first call of `follow` until the signal is aborted. */
export function createSourceWatcher(
  {
    watchesCommits,
    ...options
  }: Omit<WatchOptions, "paths"> & {
    /** Whether a commit counts as a change though it changes no file. */
    readonly watchesCommits: boolean;
  },
  { signal }: Stop,
): SourceWatcher {
  let watched: { readonly root: string; readonly paths: readonly string[] | null } | null = null;
  let latest: string | null = null;
  let current = new AbortController();
  let watch: SourceWatch | null = null;
  const check = async (): Promise<void> => {
    for (;;) {
      await options.clock.sleep(CHECK_MS, { signal, ref: false });
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
      // The pass that reads the source reports that it is missing.
      if (root === null || isDeepStrictEqual(watched, { root, paths })) return false;
      if (latest === null) check().catch(onCheckTrouble);
      latest = stateOf(root, watchesCommits);
      const next = new AbortController();
      watch = await watchSource(
        { ...options, root, ...(paths === null ? {} : { paths }) },
        { signal: AbortSignal.any([signal, next.signal]) },
      );
      // The previous watch ends only now, so that no change is missed.
      current.abort();
      current = next;
      watched = { root, paths };
      return true;
    },
    settled: async () => watch?.settled(),
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
    // Each git operation creates or removes a file in the git folder when it starts and ends; a commit moves its branch.
    const changing = [gitFolder, join(commonFolder, "refs", "heads", branchOf(repository) ?? "")];
    return [root, ...changing.map((path) => fileStatus(path)?.mtimeMs)].join(" ");
  } catch {
    return null;
  }
}
