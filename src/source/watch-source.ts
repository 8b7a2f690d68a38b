import type { Stats } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { setTimeout } from "node:timers/promises";
import { type FSWatcher, watch } from "chokidar";
import { ignoreFiles, isManifestFile, isSkippedName } from "./ignore-files.ts";
import { CONFIG_NAME, startsOf } from "./source-root.ts";

/** What is watched, and the callbacks. */
export type WatchOptions = {
  readonly root: string;
  /** Files and folders below the root that hold manifests. @default the whole root */
  readonly paths?: readonly string[] | undefined;
  /** Folders that are not watched, such as the state folder; absolute, or relative to the root. */
  readonly ignore?: readonly string[];
  /** Called when the source may have changed. It does not name the change, so that no missed event matters. */
  readonly onChange: () => void;
  /** Called when watching fails; the loop still runs at its interval. */
  readonly onTrouble: (error: unknown) => void;
};

/** How long no event may occur before `onChange` is called, so that a checkout counts as one change. */
const QUIET_MS = 100;
/** How long a busy folder can delay the call. */
const MAX_DELAY_MS = 500;

/** Watches a source until the signal is aborted; resolves once every folder is watched. */
export async function watchSource(options: WatchOptions, { signal }: { signal: AbortSignal }): Promise<void> {
  const { root, onTrouble } = options;
  const targets = startsOf(root, options.paths).map((start) => join(root, start));
  const watcher = watch([...targets, join(root, CONFIG_NAME)], {
    ignored: (path, stats) => isUnwatched(options, path, stats),
    ignoreInitial: true,
    followSymlinks: false,
    ignorePermissionErrors: true,
  });
  const ready = new Promise<void>((done) => watcher.once("ready", done));
  const stopped = new Promise<void>((done) => signal.addEventListener("abort", () => done(), { once: true }));
  watcher.on("error", onTrouble);
  notifyWhenQuiet(watcher, options.onChange, signal).catch(onTrouble);
  stopped.then(() => watcher.close()).catch(onTrouble);
  await Promise.race([ready, stopped]);
}

function isUnwatched({ root, ignore = [] }: WatchOptions, path: string, stats: Stats | undefined): boolean {
  if (ignore.some((folder) => resolve(root, folder) === path)) return true;
  const inside = relative(root, path);
  if (inside === "" || inside.startsWith("..")) return false;
  const name = inside.slice(inside.lastIndexOf(sep) + 1);
  if (stats === undefined) return isSkippedName(name) && !isIgnoreFile(name) && !isManifestFile(name);
  if (stats.isDirectory()) return isSkippedName(name);
  return !stats.isFile() || !(isManifestFile(name) || isIgnoreFile(name) || name === CONFIG_NAME);
}

const isIgnoreFile = (name: string) => ignoreFiles.some((own) => own === name);

// Events only update `lastAt`; the loop decides when to call `onChange`.
async function notifyWhenQuiet(watcher: FSWatcher, onChange: () => void, signal: AbortSignal): Promise<void> {
  let lastAt = 0;
  let wake = Promise.withResolvers<void>();
  const stop = () => wake.resolve();
  signal.addEventListener("abort", stop, { once: true });
  watcher.on("all", () => {
    lastAt = performance.now();
    wake.resolve();
  });
  while (!signal.aborted) {
    await wake.promise;
    wake = Promise.withResolvers();
    const since = performance.now();
    do await setTimeout(QUIET_MS, undefined, { signal }).catch(() => undefined);
    while (!signal.aborted && performance.now() - lastAt < QUIET_MS && performance.now() - since < MAX_DELAY_MS);
    if (!signal.aborted) onChange();
  }
}
