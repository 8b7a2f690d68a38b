import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Stop } from "../clock/clock.ts";
import type { Target } from "../engine/target.ts";
import { claimsType } from "../manifests/claims-type.ts";
import { branchOf, locateRepository } from "../source/git/repository-paths.ts";
import { fileStatus } from "../source/read-regular-file.ts";
import { realRoot } from "../source/source-root.ts";
import { type SourceWatch, type WatchOptions, watchSource } from "../source/watch-source.ts";

/** Interval of the check for changes that cause no file event: links to the source, and commits in its checkout. */
const CHECK_MS = 500;
/** Watches the files of a source. */
type SourceWatcher = {
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

/** The source of a target between its passes. */
export type SourceFollower = {
  /** Sets the paths that the next `follow` watches; null for the whole source. */
  readonly setPaths: (paths: readonly string[] | null) => void;
  /** Watches the source as it is now; returns whether its folder or paths changed. False for a git repository. */
  readonly follow: () => Promise<boolean>;
  /** Resolves when no file of the source is known to be half-written. */
  readonly settled: () => Promise<void>;
};

/** Follows a target's source; nothing is watched before the first call of `follow`. */
export function followSource(
  { source, state, rules }: Target,
  told: Pick<WatchOptions, "clock" | "onChange" | "onTrouble">,
  signal: AbortSignal,
): SourceFollower {
  const { repository } = source.config;
  const watched = {
    ...told,
    root: source.root,
    patches: source.patches,
    ignore: [state.folder],
    isMeant: claimsType,
    watchesCommits: rules(repository).ref !== null,
  };
  const watcher = createSourceWatcher(watched, { signal });
  let paths = repository.paths ?? null;
  return {
    setPaths: (latest) => {
      paths = latest;
    },
    follow: async () => source.commits === null && (await watcher.follow(paths)),
    settled: watcher.settled,
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
