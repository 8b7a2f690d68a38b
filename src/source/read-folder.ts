import { type Dirent, lstatSync, readdirSync, realpathSync, statSync } from "node:fs";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { compareText } from "../contract/json.ts";
import type { Diagnostic } from "../core/diagnostic.ts";
import { HoldfastError } from "../core/errors.ts";
import { digestOf } from "./content-digest.ts";
import { fileDiagnostic } from "./file-diagnostic.ts";
import { isUntouched, stampOf } from "./file-stamp.ts";
import { FolderFile, type FolderPlace } from "./folder-file.ts";
import { commitOfFolder } from "./git/compare-to-commit.ts";
import type { Repository } from "./git/repository.ts";
import { headOf } from "./git/tree.ts";
import {
  ignoreFiles,
  isHiddenBy,
  isIgnoredBy,
  isManifestFile,
  isPassedOver,
  openIgnoreFiles,
  type Scope,
  scopeOf,
} from "./ignore-files.ts";
import type { FileState, KnownFiles } from "./known-files.ts";
import type { Limits } from "./limits.ts";
import { lookAt, openFile } from "./open-file.ts";
import { outerScopes } from "./outer-ignore-files.ts";
import { pacer } from "./pacer.ts";
import type { RevisionFiles } from "./revision.ts";
import { realRoot } from "./source-root.ts";

/** What is read of a folder. */
export type FolderOptions = {
  readonly root: string;
  /** The root as reports name it. @default the root itself */
  readonly shownRoot?: string;
  /** Files and folders below the root that hold manifests; the whole root without. */
  readonly paths?: readonly string[];
  /** Files and folders that are no part of it, such as the state folder; absolute, or relative to the root. */
  readonly ignore?: readonly string[];
  readonly cwd: string;
  readonly limits: Limits;
  /** The repository that the root lies in. */
  readonly repository: Repository | null;
  /** Whether its commits cannot be read, so that nobody asks for the one that is checked out. */
  readonly isUnreadable?: boolean;
  /** What an earlier run knew of it: what was not touched since is not read. */
  readonly remembered?: KnownFiles;
};

/** Reads a folder as it is now. */
export async function readFolder(options: FolderOptions, { signal }: { signal: AbortSignal }): Promise<RevisionFiles> {
  signal.throwIfAborted();
  const root = realRoot(options.root);
  const { repository } = options;
  const head = repository === null || options.isUnreadable ? null : headOf(repository, root, { signal });
  // Left unhandled until the files are read, a failure here would end the process.
  head?.catch(() => undefined);
  const reading = startReading({ ...options, root });
  const pause = pacer(signal);
  const outer = outerScopes(root, reading.cwd, repository);
  reading.diagnostics.push(...outer.faults);
  for (const start of startsOf(root, options.paths)) {
    enter(reading, start, outer.scopes);
    const pausing = pause();
    if (pausing !== undefined) await pausing;
  }
  for (let folder = reading.open.pop(); folder !== undefined; folder = reading.open.pop()) {
    await readFolderEntries(reading, folder, pause);
  }
  const names = reading.found.toSorted(compareText);
  const files: FolderFile[] = [];
  let total = 0;
  for (const path of names) {
    const file = openManifestFile(reading, path);
    if (file !== null) files.push(file);
    total += file?.heldBytes ?? 0;
    if (total > options.limits.totalBytes) throw tooLarge(options.limits);
    const pausing = pause();
    if (pausing !== undefined) await pausing;
  }
  const { at, diagnostics, place } = reading;
  const commit = await head;
  place.head = commit;
  const searched = { root, starts: startsOf(root, options.paths) };
  const checkedOut = commit === null ? { commit: null } : commitOfFolder(files, commit, searched);
  return { ...checkedOut, at, root, files, diagnostics };
}

type Folder = { readonly path: string; readonly depth: number; readonly scopes: readonly Scope[] };

type Reading = Omit<FolderOptions, "paths"> & {
  readonly at: number;
  readonly place: FolderPlace;
  readonly passedOver: ReadonlySet<string>;
  readonly open: Folder[];
  /** Every folder that was put there. */
  readonly opened: Set<string>;
  readonly found: string[];
  readonly seen: Set<string>;
  /** Ignore files that were opened, so that a fault in one is told once. */
  readonly ignoreFiles: Set<string>;
  readonly diagnostics: Diagnostic[];
};

function startReading(options: FolderOptions): Reading {
  const passedOver = new Set((options.ignore ?? []).map((path) => realPath(resolve(options.root, path))));
  const { root } = options;
  const cwd = realPath(options.cwd);
  const place: FolderPlace = {
    within: root.endsWith(sep) ? root : root + sep,
    display: displayed(options.shownRoot ?? root, cwd),
    limit: options.limits.fileBytes,
    head: null,
  };
  const seen = { seen: new Set<string>(), opened: new Set<string>(), ignoreFiles: new Set<string>() };
  const fresh = { open: [], found: [], ...seen, diagnostics: [] };
  return { ...options, at: Date.now(), cwd, place, passedOver, ...fresh };
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** The starting points below the root, each a path with `/` and without a trailing one; `` is the root itself. */
export function startsOf(root: string, paths: readonly string[] | undefined): readonly string[] {
  if (paths === undefined || paths.length === 0) return [""];
  const starts = paths.map((path) => {
    const inside = relative(root, resolve(root, path));
    if (inside.split(sep)[0] === ".." || isAbsolute(inside)) {
      throw new HoldfastError("invalid", `the path ${path} leads out of the source`, {
        hint: "Paths are relative to the source's root.",
      });
    }
    return inside.split(sep).join("/");
  });
  return [...new Set(starts)];
}

// A starting point is taken even where an ignore file names it (that file then has no say below), but never through a link.
function enter(reading: Reading, start: string, outer: readonly Scope[]): void {
  const steps = start === "" ? [] : start.split("/");
  let scopes = outer;
  let path = "";
  for (const [index, step] of steps.entries()) {
    scopes = withScopeOf(reading, path, scopes);
    path = path === "" ? step : `${path}/${step}`;
    const stat = lstatSync(join(reading.root, path), { throwIfNoEntry: false });
    if (stat === undefined)
      throw new HoldfastError("invalid", `the path ${start} does not exist`, {
        hint: "Correct `paths`, or the path given.",
      });
    if (stat.isDirectory()) continue;
    if (stat.isFile() && index === steps.length - 1) addFile(reading, path);
    else passOverSpecial(reading, path, stat.isSymbolicLink() ? "a symbolic link" : "no folder");
    return;
  }
  openFolder(reading, { path, depth: steps.length, scopes: scopes.filter((scope) => !isHiddenBy(scope, path)) });
}

// From starting points that lie inside each other a folder is reached several times. Those scopes are left out that hide
// the starting point, and with it all that lies inside: with as many scopes it would be read the same way again.
function openFolder({ opened, ...reading }: Reading, folder: Folder): void {
  const key = `${folder.scopes.length} ${folder.path}`;
  if (opened.has(key)) return;
  opened.add(key);
  reading.open.push(folder);
}

function withScopeOf(reading: Reading, folder: string, above: readonly Scope[]): readonly Scope[] {
  const base = folder === "" ? "" : `${folder}/`;
  const paths = ignoreFiles.map((name) => placeOf(reading, base + name));
  const files = openIgnoreFiles(paths, (path) => display(reading, path.slice(reading.place.within.length)));
  const { scope, faults } = scopeOf(base, files, { above });
  reading.diagnostics.push(...faults.filter(({ file }) => file !== null && !reading.ignoreFiles.has(file)));
  for (const file of files) reading.ignoreFiles.add(file.display);
  return scope === null ? above : [...above, scope];
}

type Pause = ReturnType<typeof pacer>;

async function readFolderEntries(reading: Reading, folder: Folder, pause: Pause): Promise<void> {
  const entries = list(reading, folder.path);
  const hasIgnoreFile = entries.some(({ name }) => ignoreFiles.some((own) => own === name));
  const scopes = hasIgnoreFile ? withScopeOf(reading, folder.path, folder.scopes) : folder.scopes;
  for (const entry of entries) {
    const path = folder.path === "" ? entry.name : `${folder.path}/${entry.name}`;
    if (entry.isDirectory()) takeFolder(reading, { path, depth: folder.depth + 1, scopes }, entry.name);
    else if (isManifestFile(entry.name)) takeEntry(reading, entry, path, scopes);
    else if (entry.isSymbolicLink()) passOverLinkedFolder(reading, { path, scopes }, entry.name);
    const pausing = pause();
    if (pausing !== undefined) await pausing;
  }
}

function list(reading: Reading, folder: string): readonly Dirent[] {
  try {
    return readdirSync(join(reading.root, folder), { withFileTypes: true });
  } catch (cause) {
    const gone = cause instanceof Error && "code" in cause && cause.code === "ENOENT";
    if (folder === "") throw new HoldfastError("invalid", `the source ${reading.root} cannot be read`, { cause });
    if (!gone)
      reading.diagnostics.push(
        fileDiagnostic(
          "error",
          "unreadable",
          display(reading, folder),
          "a folder that cannot be read",
          "Its manifests are unknown. Allow reading it, or list it in .holdfastignore.",
        ),
      );
    return [];
  }
}

type FolderEntry = Pick<Folder, "path" | "scopes">;

function isOutside(reading: Reading, { path, scopes }: FolderEntry, name: string): boolean {
  return isPassedOver(name) || reading.passedOver.has(placeOf(reading, path)) || isIgnoredBy(scopes, path, true);
}

// Only what it leads to tells that manifests are missed; nothing of it is opened.
function passOverLinkedFolder(reading: Reading, entry: FolderEntry, name: string): void {
  if (isOutside(reading, entry, name) || !leadsToFolder(placeOf(reading, entry.path))) return;
  passOverSpecial(reading, entry.path, "a symbolic link to a folder");
}

function leadsToFolder(link: string): boolean {
  try {
    return statSync(link, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch {
    return false;
  }
}

function takeFolder(reading: Reading, folder: Folder, name: string): void {
  if (isOutside(reading, folder, name)) return;
  if (folder.depth <= reading.limits.folderDepth) {
    openFolder(reading, folder);
    return;
  }
  const summary = `folders inside each other more than ${reading.limits.folderDepth} levels deep`;
  reading.diagnostics.push(
    fileDiagnostic("error", "too-deep", display(reading, folder.path), summary, "What lies below was not read."),
  );
}

function takeEntry(reading: Reading, entry: Dirent, path: string, scopes: readonly Scope[]): void {
  if (isIgnoredBy(scopes, path, false)) return;
  if (entry.isFile()) addFile(reading, path);
  else passOverSpecial(reading, path, entry.isSymbolicLink() ? "a symbolic link" : "no regular file");
}

function passOverSpecial(reading: Reading, path: string, what: string): void {
  reading.diagnostics.push(
    fileDiagnostic(
      "warning",
      "not-a-regular-file",
      display(reading, path),
      `${what}, passed over`,
      "Only regular files are read.",
    ),
  );
}

function addFile(reading: Reading, path: string): void {
  if (reading.seen.has(path) || reading.passedOver.has(placeOf(reading, path))) return;
  reading.seen.add(path);
  reading.found.push(path);
}

function openManifestFile(reading: Reading, path: string): FolderFile | null {
  const { place, limits } = reading;
  const known = untouched(reading, path);
  if (known !== null) return new FolderFile(place, path, known, null);
  const opened = openFile(placeOf(reading, path), limits.fileBytes);
  switch (opened.is) {
    case "read": {
      const { bytes, size, stamp } = opened;
      const digest = size === bytes.length ? digestOf(bytes) : null;
      return new FolderFile(place, path, { digest, stamp, blob: null }, bytes);
    }
    case "not-a-file":
      passOverSpecial(reading, path, "no regular file");
      return null;
    case "gone":
      return null;
    default:
      reading.diagnostics.push(
        fileDiagnostic(
          "error",
          "unreadable",
          display(reading, path),
          "a file that cannot be read",
          "Its manifests are unknown. Allow reading it, or list it in .holdfastignore.",
        ),
      );
      return null;
  }
}

function untouched(reading: Reading, path: string): FileState | null {
  const { remembered } = reading;
  const known = remembered?.files.get(path);
  if (remembered === undefined || known === undefined) return null;
  const stat = lookAt(placeOf(reading, path));
  return stat?.isFile() && isUntouched(stampOf(stat), known.stamp, remembered.at) ? known : null;
}

// A source has many files: what a path starts with is told once.
function placeOf({ place }: Reading, path: string): string {
  return place.within + path;
}

function display({ place }: Reading, path: string): string {
  return place.display(path);
}

// As seen from the working directory: all paths begin alike, unless that lies below the root itself.
function displayed(root: string, cwd: string): (path: string) => string {
  const inside = relative(root, cwd);
  if (inside === "") return (path) => path;
  if (!isAbove(inside)) return (path) => relative(cwd, join(root, path)).split(sep).join("/");
  const before = `${relative(cwd, root).split(sep).join("/")}/`;
  return (path) => before + path;
}

function isAbove(path: string): boolean {
  return path === ".." || path.startsWith(`..${sep}`);
}

function tooLarge({ totalBytes }: Limits): HoldfastError {
  const mebibytes = Math.floor(totalBytes / (1024 * 1024));
  return new HoldfastError("invalid", `the source's manifest files hold more than ${mebibytes} MiB together`, {
    hint: "Narrow it with `paths`, or list what is not ours in .holdfastignore.",
  });
}
