import { type Dirent, lstatSync, readdirSync, realpathSync, statSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { compareText } from "../contract/json.ts";
import type { Diagnostic } from "../core/diagnostic.ts";
import { HoldfastError } from "../core/errors.ts";
import { fileDiagnostic } from "./file-diagnostic.ts";
import type { FolderPlace } from "./folder-file.ts";
import type { Repository } from "./git/repository-paths.ts";
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
import type { KnownFiles } from "./known-files.ts";
import type { Limits } from "./limits.ts";
import { outerScopes } from "./outer-ignore-files.ts";
import type { pacer } from "./pacer.ts";
import { startsOf } from "./source-root.ts";

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

type Folder = { readonly path: string; readonly depth: number; readonly scopes: readonly Scope[] };

/** A folder that is being walked, with what was found in it so far. */
export type FolderWalk = Omit<FolderOptions, "paths"> & {
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

/** Starts to walk a folder at its real path. */
export function startWalk(options: FolderOptions): FolderWalk {
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

/** The paths of the manifest files in it, below its root, in order; what is passed over is warned of. */
export async function findManifestFiles(
  walk: FolderWalk,
  paths: readonly string[] | undefined,
  pause: ReturnType<typeof pacer>,
): Promise<readonly string[]> {
  const outer = outerScopes(walk.root, walk.cwd, walk.repository);
  walk.diagnostics.push(...outer.faults);
  for (const start of startsOf(walk.root, paths)) {
    enter(walk, start, outer.scopes);
    const pausing = pause();
    if (pausing !== undefined) await pausing;
  }
  for (let folder = walk.open.pop(); folder !== undefined; folder = walk.open.pop()) {
    await walkEntries(walk, folder, pause);
  }
  return walk.found.toSorted(compareText);
}

// A starting point is taken even where an ignore file names it (that file then has no say below), but never through a link.
function enter(walk: FolderWalk, start: string, outer: readonly Scope[]): void {
  const steps = start === "" ? [] : start.split("/");
  let scopes = outer;
  let path = "";
  for (const [index, step] of steps.entries()) {
    scopes = withScopeOf(walk, path, scopes);
    path = path === "" ? step : `${path}/${step}`;
    const stat = lstatSync(join(walk.root, path), { throwIfNoEntry: false });
    if (stat === undefined)
      throw new HoldfastError("invalid", `the path ${start} does not exist`, {
        hint: "Correct `paths`, or the path given.",
      });
    if (stat.isDirectory()) continue;
    if (stat.isFile() && index === steps.length - 1) addFile(walk, path);
    else passOverSpecial(walk, path, stat.isSymbolicLink() ? "a symbolic link" : "no folder");
    return;
  }
  openFolder(walk, { path, depth: steps.length, scopes: scopes.filter((scope) => !isHiddenBy(scope, path)) });
}

// From starting points that lie inside each other a folder is reached several times. Those scopes are left out that hide
// the starting point, and with it all that lies inside: with as many scopes it would be read the same way again.
function openFolder({ opened, ...walk }: FolderWalk, folder: Folder): void {
  const key = `${folder.scopes.length} ${folder.path}`;
  if (opened.has(key)) return;
  opened.add(key);
  walk.open.push(folder);
}

function withScopeOf(walk: FolderWalk, folder: string, above: readonly Scope[]): readonly Scope[] {
  const base = folder === "" ? "" : `${folder}/`;
  const paths = ignoreFiles.map((name) => placeOf(walk, base + name));
  const files = openIgnoreFiles(paths, (path) => display(walk, path.slice(walk.place.within.length)));
  const { scope, faults } = scopeOf(base, files, { above });
  walk.diagnostics.push(...faults.filter(({ file }) => file !== null && !walk.ignoreFiles.has(file)));
  for (const file of files) walk.ignoreFiles.add(file.display);
  return scope === null ? above : [...above, scope];
}

async function walkEntries(walk: FolderWalk, folder: Folder, pause: ReturnType<typeof pacer>): Promise<void> {
  const entries = list(walk, folder.path);
  const hasIgnoreFile = entries.some(({ name }) => ignoreFiles.some((own) => own === name));
  const scopes = hasIgnoreFile ? withScopeOf(walk, folder.path, folder.scopes) : folder.scopes;
  for (const entry of entries) {
    const path = folder.path === "" ? entry.name : `${folder.path}/${entry.name}`;
    if (entry.isDirectory()) takeFolder(walk, { path, depth: folder.depth + 1, scopes }, entry.name);
    else if (isManifestFile(entry.name)) takeEntry(walk, entry, path, scopes);
    else if (entry.isSymbolicLink()) passOverLinkedFolder(walk, { path, scopes }, entry.name);
    const pausing = pause();
    if (pausing !== undefined) await pausing;
  }
}

function list(walk: FolderWalk, folder: string): readonly Dirent[] {
  try {
    return readdirSync(join(walk.root, folder), { withFileTypes: true });
  } catch (cause) {
    const gone = cause instanceof Error && "code" in cause && cause.code === "ENOENT";
    if (folder === "") throw new HoldfastError("invalid", `the source ${walk.root} cannot be read`, { cause });
    if (!gone)
      walk.diagnostics.push(
        fileDiagnostic(
          "error",
          "unreadable",
          display(walk, folder),
          "a folder that cannot be read",
          "Its manifests are unknown. Allow reading it, or list it in .holdfastignore.",
        ),
      );
    return [];
  }
}

type FolderEntry = Pick<Folder, "path" | "scopes">;

function isOutside(walk: FolderWalk, { path, scopes }: FolderEntry, name: string): boolean {
  return isPassedOver(name) || walk.passedOver.has(placeOf(walk, path)) || isIgnoredBy(scopes, path, true);
}

// Only what it leads to tells that manifests are missed; nothing of it is opened.
function passOverLinkedFolder(walk: FolderWalk, entry: FolderEntry, name: string): void {
  if (isOutside(walk, entry, name) || !leadsToFolder(placeOf(walk, entry.path))) return;
  passOverSpecial(walk, entry.path, "a symbolic link to a folder");
}

function leadsToFolder(link: string): boolean {
  try {
    return statSync(link, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch {
    return false;
  }
}

function takeFolder(walk: FolderWalk, folder: Folder, name: string): void {
  if (isOutside(walk, folder, name)) return;
  if (folder.depth <= walk.limits.folderDepth) {
    openFolder(walk, folder);
    return;
  }
  const summary = `folders inside each other more than ${walk.limits.folderDepth} levels deep`;
  walk.diagnostics.push(
    fileDiagnostic("error", "too-deep", display(walk, folder.path), summary, "What lies below was not read."),
  );
}

function takeEntry(walk: FolderWalk, entry: Dirent, path: string, scopes: readonly Scope[]): void {
  if (isIgnoredBy(scopes, path, false)) return;
  if (entry.isFile()) addFile(walk, path);
  else passOverSpecial(walk, path, entry.isSymbolicLink() ? "a symbolic link" : "no regular file");
}

/** Warns of an entry that is neither a regular file nor a folder. */
export function passOverSpecial(walk: FolderWalk, path: string, what: string): void {
  walk.diagnostics.push(
    fileDiagnostic(
      "warning",
      "not-a-regular-file",
      display(walk, path),
      `${what}, passed over`,
      "Only regular files are read.",
    ),
  );
}

function addFile(walk: FolderWalk, path: string): void {
  if (walk.seen.has(path) || walk.passedOver.has(placeOf(walk, path))) return;
  walk.seen.add(path);
  walk.found.push(path);
}

/** The absolute path of what is named below the root. */
export function placeOf({ place }: FolderWalk, path: string): string {
  return place.within + path;
}

/** A path below the root, as reports show it. */
export function display({ place }: FolderWalk, path: string): string {
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
