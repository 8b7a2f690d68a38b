import type { Stats } from "node:fs";
import { basename, join, relative, resolve, sep } from "node:path";
import { type FSWatcher, watch } from "chokidar";
import type { Clock } from "../clock/clock.ts";
import { formatOf } from "../yaml/document.ts";
import { ExactProcess, readYaml } from "../yaml/read-yaml.ts";
import { ignoreFiles, isManifestFile, isSkippedName } from "./ignore-files.ts";
import { defaultLimits } from "./limits.ts";
import { type Pace, pacer } from "./pacer.ts";
import { fileStatus, readRegularFile } from "./read-regular-file.ts";
import { CONFIG_NAME, type PatchFolders, startsOf } from "./source-root.ts";

/** What is watched, and the callbacks. */
export type WatchOptions = {
  readonly clock: Clock;
  readonly root: string;
  /** Files and folders below the root that hold manifests. @default the whole root */
  readonly paths?: readonly string[] | undefined;
  readonly patches?: PatchFolders | undefined;
  /** Folders that are not watched, such as the state folder; absolute, or relative to the root. */
  readonly ignore?: readonly string[];
  /** Called when the source may have changed. It does not name the change, so that no missed event matters. */
  readonly onChange: () => void;
  /** Called when watching fails; the loop still runs at its interval. */
  readonly onTrouble: (error: unknown) => void;
  /** Whether a text that cannot be parsed is meant as a manifest: only those are waited for. */
  readonly isMeant: IsMeant;
  /** How long files that are being written can delay `onChange`. @default 10 s */
  readonly maxWaitMs?: number;
};

/** How long no event may occur before `onChange` is called, so that a checkout counts as one change. */
const QUIET_MS = 100;
/** The same after a manifest was written in place: it may be incomplete. */
const WRITTEN_QUIET_MS = 300;
/** How long a busy folder can delay the call. */
const MAX_DELAY_MS = 500;
/** How long files that are being written can delay the call. */
const MAX_WAIT_MS = 10_000;
const CHECK_MS = 50;

/** The watch of a source. */
export type SourceWatch = {
  /** Resolves when no change is waiting to be reported: then no file is known to be half-written. */
  readonly settled: () => Promise<void>;
};

/** Watches a source until the signal is aborted; resolves once every folder is watched. */
export async function watchSource(options: WatchOptions, { signal }: { signal: AbortSignal }): Promise<SourceWatch> {
  const { root, onTrouble } = options;
  const targets = startsOf(root, options.paths, options.patches).map((start) => join(root, start));
  const watcher = watch([...targets, join(root, CONFIG_NAME)], {
    ignored: (path, stats) => isUnwatched(options, path, stats),
    ignoreInitial: true,
    followSymlinks: false,
    ignorePermissionErrors: true,
  });
  const ready = new Promise<void>((done) => watcher.once("ready", done));
  const stopped = new Promise<void>((done) => signal.addEventListener("abort", () => done(), { once: true }));
  watcher.on("error", onTrouble);
  const batches = collectChanges(watcher, options.clock, signal);
  notifyWhenSettled(batches, options, signal).catch(onTrouble);
  stopped.then(() => watcher.close()).catch(onTrouble);
  await Promise.race([ready, stopped]);
  return { settled: () => Promise.race([batches.settled(), stopped]) };
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

type Changes = {
  /** The paths that changed since the last report. */
  readonly paths: Set<string>;
  /** When the last of them changed. */
  readonly lastAt: () => number;
  /** Resolves at the next change, or when the signal is aborted. */
  readonly next: () => Promise<void>;
  /** Resolves when no change waits to be reported. */
  readonly settled: () => Promise<void>;
  readonly report: (onChange: () => void) => void;
};

function collectChanges(watcher: FSWatcher, clock: Clock, signal: AbortSignal): Changes {
  const paths = new Set<string>();
  let lastAt = 0;
  let wake = Promise.withResolvers<void>();
  let settled: PromiseWithResolvers<void> | null = null;
  signal.addEventListener("abort", () => wake.resolve(), { once: true });
  watcher.on("all", (_, path) => {
    paths.add(path);
    lastAt = clock.monotonic();
    settled ??= Promise.withResolvers();
    wake.resolve();
  });
  return {
    paths,
    lastAt: () => lastAt,
    next: () => wake.promise,
    settled: async () => settled?.promise,
    report: (onChange) => {
      wake = Promise.withResolvers();
      paths.clear();
      settled?.resolve();
      settled = null;
      onChange();
    },
  };
}

async function notifyWhenSettled(
  changes: Changes,
  { clock, onChange, isMeant, maxWaitMs = MAX_WAIT_MS }: WatchOptions,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await changes.next();
    const since = clock.monotonic();
    const isSettled = settledSince(since, changes, isMeant, { clock, signal });
    while (!signal.aborted && clock.monotonic() - since < maxWaitMs && !(await isSettled())) {
      await clock.sleep(CHECK_MS, { signal }).catch(() => undefined);
    }
    if (!signal.aborted) changes.report(onChange);
  }
}

// A file that arrived by rename is complete, so only the files written in place are waited for.
function settledSince(since: number, { paths, lastAt }: Changes, isMeant: IsMeant, pace: Pace): () => Promise<boolean> {
  const { clock } = pace;
  let brokenAt: number | null = null;
  return async () => {
    const at = lastAt();
    const quietMs = clock.monotonic() - at;
    const written = [...paths].filter(isWrittenInPlace);
    if (written.length === 0) return quietMs >= QUIET_MS || clock.monotonic() - since >= MAX_DELAY_MS;
    // What did not parse is parsed again once it has changed.
    if (quietMs < WRITTEN_QUIET_MS || brokenAt === at) return false;
    const parses = await everyFileParses(written, isMeant, pace).catch(() => true);
    if (!parses) brokenAt = at;
    return parses && lastAt() === at;
  };
}

/**
 * Whether a manifest or configuration file was last written in place, so that it may be incomplete. A rename, like any
 * change of the inode alone, moves the change time and leaves the modification time.
 */
function isWrittenInPlace(path: string): boolean {
  const name = basename(path);
  if (!isManifestFile(name) && name !== CONFIG_NAME) return false;
  const stat = fileStatus(path);
  return stat?.isFile() === true && stat.ctimeMs <= stat.mtimeMs;
}

/** Whether a text that cannot be parsed is meant as a manifest. */
type IsMeant = (text: string) => boolean;

/** Whether every manifest file parses; one that is gone, too large to be read, or not meant as a manifest does. */
async function everyFileParses(paths: readonly string[], isMeant: IsMeant, pace: Pace): Promise<boolean> {
  const pause = pacer(pace);
  await using exact = new ExactProcess();
  // A configuration that does not parse is never applied: the last applied revision stays.
  for (const path of paths.filter((each) => isManifestFile(basename(each)))) {
    if (!(await parses(path, isMeant, exact))) return false;
    const pausing = pause();
    if (pausing !== undefined) await pausing;
  }
  return true;
}

async function parses(path: string, isMeant: IsMeant, exact: ExactProcess): Promise<boolean> {
  const opened = readRegularFile(path, defaultLimits.fileBytes);
  if (opened.is !== "read" || opened.size > opened.bytes.length) return true;
  const format = formatOf(basename(path)) ?? "yaml";
  const { text, faults, documents } = await readYaml(
    opened.bytes,
    { format, limits: defaultLimits, worthy: null },
    exact,
  );
  const isWhole = faults.length === 0 && documents.every(({ value, faults: found }) => value !== null || !found.length);
  return isWhole || !isMeant(text);
}
