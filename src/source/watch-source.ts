import type { Stats } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { setTimeout } from "node:timers/promises";
import { type FSWatcher, watch } from "chokidar";
import { ignoreFiles, isManifestFile, isPassedOver } from "./ignore-files.ts";
import { CONFIG_NAME, startsOf } from "./source-root.ts";

/** What is watched, and who is told. */
export type WatchOptions = {
  readonly root: string;
  /** Files and folders below the root that hold manifests; the whole root without. */
  readonly paths?: readonly string[] | undefined;
  /** Folders that are never looked into, such as the state folder; absolute, or relative to the root. */
  readonly ignore?: readonly string[];
  /** Called when something may have changed: look again. Never says what, so that no event can be missed. */
  readonly onChange: () => void;
  /** Called when watching itself is in trouble; the interval of the loop goes on. */
  readonly onTrouble: (error: unknown) => void;
};

/** How long it must have been quiet before a change is told, so that a checkout is one change. */
const QUIET_MS = 100;
/** How long a busy folder can put that off. */
const MAX_DELAY_MS = 500;

/** Watches a source until the signal says stop; resolves when every folder is being watched. */
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
  tell(watcher, options.onChange, signal).catch(onTrouble);
  stopped.then(() => watcher.close()).catch(onTrouble);
  await Promise.race([ready, stopped]);
}

function isUnwatched({ root, ignore = [] }: WatchOptions, path: string, stats: Stats | undefined): boolean {
  if (ignore.some((folder) => resolve(root, folder) === path)) return true;
  const inside = relative(root, path);
  if (inside === "" || inside.startsWith("..")) return false;
  const name = inside.slice(inside.lastIndexOf(sep) + 1);
  if (stats === undefined) return isPassedOver(name) && !isIgnoreFile(name) && !isManifestFile(name);
  if (stats.isDirectory()) return isPassedOver(name);
  return !stats.isFile() || !(isManifestFile(name) || isIgnoreFile(name) || name === CONFIG_NAME);
}

const isIgnoreFile = (name: string) => ignoreFiles.some((own) => own === name);

// Events only ever move `lastAt`; the loop alone decides when to tell.
async function tell(watcher: FSWatcher, onChange: () => void, signal: AbortSignal): Promise<void> {
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
