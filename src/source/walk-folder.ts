import { type Dirent, lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { compareText } from "../contract/json.ts";
import type { Diagnostic } from "../core/diagnostic.ts";
import { HoldfastError } from "../core/errors.ts";
import { relativePath } from "../files/real-path.ts";
import { fileDiagnostic, linkDiagnostic, specialFileWarning, submoduleWarning } from "./file-diagnostic.ts";
import type { KnownFiles } from "./file-stamp.ts";
import type { FolderPlace } from "./folder-file.ts";
import type { Repository } from "./git/repository-paths.ts";
import {
  ignoreFiles,
  ignoringScope,
  isHiddenBy,
  isManifestFile,
  isSkippedName,
  OWN_IGNORE_FILE,
  openIgnoreFiles,
  outerScopes,
  type Scope,
  scopesOf,
} from "./ignore-files.ts";
import type { Limits } from "./limits.ts";
import type { pacer } from "./pacer.ts";
import { fileStatus } from "./read-regular-file.ts";
import { isOfPolicies, optionalStarts, type PatchFolders, startsOf } from "./source-root.ts";

/** Which files of a folder are read. */
export type FolderOptions = {
  readonly root: string;
  /** The root as reports name it. @default the root itself */
  readonly shownRoot?: string;
  /** Files and folders below the root that hold manifests. @default the whole root */
  readonly paths?: readonly string[];
  readonly patches?: PatchFolders;
  /** Files and folders that are not part of it, such as the state folder; absolute, or relative to the root. */
  readonly ignore?: readonly string[];
  readonly cwd: string;
  readonly limits: Limits;
  /** The repository that the root lies in. */
  readonly repository: Repository | null;
  /** Whether its commits cannot be read, so that HEAD is not resolved. */
  readonly isUnreadable?: boolean;
  /** Whether another user owns the repository, so that git must not read its configuration. @default false */
  readonly isForeign?: boolean;
  /** Files known from an earlier run; those that have not changed since are not read. */
  readonly knownFiles?: KnownFiles;
};

/** A file or folder that an ignore file leaves out. */
export type LeftOut = { readonly scope: Scope; readonly isFolder: boolean };

type Folder = { readonly path: string; readonly depth: number; readonly scopes: readonly Scope[] };

/** The state of a folder walk. */
export type FolderWalk = Omit<FolderOptions, "paths"> & {
  readonly at: number;
  /** The starting points below the root. */
  readonly starts: readonly string[];
  readonly place: FolderPlace;
  readonly excluded: ReadonlySet<string>;
  /** Folders that are still to be read. */
  readonly queue: Folder[];
  /** Every folder that was queued. */
  readonly queued: Set<string>;
  readonly found: string[];
  readonly seen: Set<string>;
  /** Ignore files that were read, so that each fault is reported once. */
  readonly ignoreFiles: Set<string>;
  /** Holdfast's own among them, by path; those above the root begin with `../`. */
  readonly ownIgnoreFiles: Set<string>;
  /** The files and folders that ignore files leave out, by path. */
  readonly leftOut: Map<string, LeftOut>;
  /** Links that an ignore rule of git matches; if they are tracked, it does not count. */
  readonly ignoredLinks: Set<string>;
  /** Starting points that do not exist in the folder. */
  readonly absentStarts: string[];
  readonly diagnostics: Diagnostic[];
};

/** Starts a walk of a folder, given by its real path; `at` is the time in epoch milliseconds. */
export function startWalk(options: FolderOptions, at: number): FolderWalk {
  const excluded = new Set((options.ignore ?? []).map((path) => realPath(resolve(options.root, path))));
  const { root } = options;
  const cwd = realPath(options.cwd);
  const place: FolderPlace = {
    rootPrefix: root.endsWith(sep) ? root : root + sep,
    display: displayed(options.shownRoot ?? root, cwd),
    limit: options.limits.fileBytes,
    head: null,
  };
  const seen = {
    seen: new Set<string>(),
    queued: new Set<string>(),
    ignoreFiles: new Set<string>(),
    ownIgnoreFiles: new Set<string>(),
  };
  const leftOut = new Map<string, LeftOut>();
  const ignoredLinks = new Set<string>();
  const fresh = { queue: [], found: [], ...seen, leftOut, ignoredLinks, absentStarts: [], diagnostics: [] };
  const starts = startsOf(root, options.paths, options.patches);
  return { ...options, at, cwd, starts, place, excluded, ...fresh };
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** The paths of the manifest files, relative to the root, in order. Skipped special files are warned about. */
export async function findManifestFiles(walk: FolderWalk, pause: ReturnType<typeof pacer>): Promise<readonly string[]> {
  const outer = outerScopes(walk.root, walk.cwd, walk.repository);
  walk.diagnostics.push(...outer.faults);
  for (const path of outer.own) walk.ownIgnoreFiles.add(path);
  for (const start of walk.starts) {
    queueStart(walk, start, outer.scopes);
    const pausing = pause();
    if (pausing !== undefined) await pausing;
  }
  for (let folder = walk.queue.pop(); folder !== undefined; folder = walk.queue.pop()) {
    await walkEntries(walk, folder, pause);
  }
  return walk.found.toSorted(compareText);
}

// A starting point is read even if an ignore file names it, and that file then does not apply below. Links are never
// followed.
function queueStart(walk: FolderWalk, start: string, outer: readonly Scope[]): void {
  const steps = start === "" ? [] : start.split("/");
  let scopes = outer;
  let path = "";
  for (const [index, step] of steps.entries()) {
    scopes = withScopeOf(walk, path, scopes);
    path = path === "" ? step : `${path}/${step}`;
    const stat = lstatSync(join(walk.root, path), { throwIfNoEntry: false });
    if (stat === undefined) {
      // It may be a part of a checkout that is not checked out.
      if (!optionalStarts(walk.patches ?? {}).includes(start)) walk.absentStarts.push(start);
      return;
    }
    if (walk.repository !== null && fileStatus(join(placeOf(walk, path), ".git")) !== undefined) {
      walk.diagnostics.push(submoduleWarning(display(walk, path)));
      return;
    }
    if (stat.isDirectory()) continue;
    if (stat.isFile() && index === steps.length - 1) addFile(walk, path);
    else warnOfSpecialFile(walk, path, stat.isSymbolicLink() ? "a symbolic link" : "not a folder");
    return;
  }
  queueFolder(walk, { path, depth: steps.length, scopes: scopes.filter((scope) => !isHiddenBy(scope, path)) });
}

// Nested starting points reach a folder several times. Scopes that ignore a starting point do not apply below it, so a
// folder reached again with the same number of scopes has the same scopes, and is skipped.
function queueFolder(walk: FolderWalk, { path, depth, ...folder }: Folder): void {
  // Policies are read whatever ignore files say.
  const scopes = isOfPolicies(walk.patches, path) ? [] : folder.scopes;
  const key = `${scopes.length} ${path}`;
  if (walk.queued.has(key)) return;
  walk.queued.add(key);
  walk.queue.push({ path, depth, scopes });
}

function withScopeOf(walk: FolderWalk, folder: string, above: readonly Scope[]): readonly Scope[] {
  const base = folder === "" ? "" : `${folder}/`;
  const paths = ignoreFiles.map((name) => placeOf(walk, base + name));
  const files = openIgnoreFiles(paths, (path) => display(walk, path.slice(walk.place.rootPrefix.length)));
  const { scopes, faults } = scopesOf(base, files, { above });
  walk.diagnostics.push(...faults.filter(({ file }) => file !== null && !walk.ignoreFiles.has(file)));
  for (const file of files) walk.ignoreFiles.add(file.display);
  if (files.some(({ isOwn }) => isOwn)) walk.ownIgnoreFiles.add(base + OWN_IGNORE_FILE);
  return scopes.length === 0 ? above : [...above, ...scopes];
}

async function walkEntries(walk: FolderWalk, folder: Folder, pause: ReturnType<typeof pacer>): Promise<void> {
  const entries = list(walk, folder.path);
  if (folder.path !== "" && isRepository(walk, entries)) {
    walk.diagnostics.push(submoduleWarning(display(walk, folder.path)));
    return;
  }
  const hasIgnoreFile = entries.some(({ name }) => ignoreFiles.some((own) => own === name));
  const isScoped = hasIgnoreFile && !isOfPolicies(walk.patches, folder.path);
  const scopes = isScoped ? withScopeOf(walk, folder.path, folder.scopes) : folder.scopes;
  for (const entry of entries) {
    const path = folder.path === "" ? entry.name : `${folder.path}/${entry.name}`;
    if (entry.isDirectory()) addFolder(walk, { path, depth: folder.depth + 1, scopes }, entry.name);
    else if (isManifestFile(entry.name)) addEntry(walk, entry, path, scopes);
    else if (entry.isSymbolicLink()) warnOfLinkedFolder(walk, { path, scopes }, entry.name);
    const pausing = pause();
    if (pausing !== undefined) await pausing;
  }
}

// In a checkout, git does not look into another repository either. Elsewhere, a source may hold several checkouts.
function isRepository({ repository }: FolderWalk, entries: readonly Dirent[]): boolean {
  return repository !== null && entries.some(({ name }) => name === ".git");
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

// A link to a folder may hide manifests, so it is warned about. Only its target's type is read, not its content.
function warnOfLinkedFolder(walk: FolderWalk, entry: FolderEntry, name: string): void {
  if (isSkippedName(name)) return;
  const scope = ignoringScope(entry.scopes, entry.path, true);
  if (scope !== null) {
    if (!scope.isOwn) walk.ignoredLinks.add(entry.path);
    return;
  }
  if (walk.excluded.has(placeOf(walk, entry.path)) || !leadsToFolder(placeOf(walk, entry.path))) return;
  warnOfSpecialFile(walk, entry.path, "a symbolic link to a folder");
}

function leadsToFolder(link: string): boolean {
  try {
    return statSync(link, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch {
    return false;
  }
}

function addFolder(walk: FolderWalk, folder: Folder, name: string): void {
  if (isSkippedName(name) || walk.excluded.has(placeOf(walk, folder.path))) return;
  const scope = ignoringScope(folder.scopes, folder.path, true);
  if (scope !== null) {
    walk.leftOut.set(folder.path, { scope, isFolder: true });
    return;
  }
  if (folder.depth <= walk.limits.folderDepth) {
    queueFolder(walk, folder);
    return;
  }
  const summary = `folders nested more than ${walk.limits.folderDepth} levels deep`;
  walk.diagnostics.push(
    fileDiagnostic("error", "too-deep", display(walk, folder.path), summary, "Its files were not read."),
  );
}

function addEntry(walk: FolderWalk, entry: Dirent, path: string, scopes: readonly Scope[]): void {
  const scope = ignoringScope(scopes, path, false);
  if (scope !== null) {
    if (entry.isFile()) walk.leftOut.set(path, { scope, isFolder: false });
    else if (!scope.isOwn) walk.ignoredLinks.add(path);
    return;
  }
  if (entry.isFile()) addFile(walk, path);
  else if (!entry.isSymbolicLink()) warnOfSpecialFile(walk, path, "not a regular file");
  else walk.diagnostics.push(linkDiagnostic(display(walk, path), targetOf(placeOf(walk, path))));
}

function targetOf(link: string): string | null {
  try {
    return readlinkSync(link);
  } catch {
    return null;
  }
}

/** Adds a warning about an entry that is neither a regular file nor a folder. */
export function warnOfSpecialFile(walk: FolderWalk, path: string, what: string): void {
  walk.diagnostics.push(specialFileWarning(display(walk, path), what));
}

function addFile(walk: FolderWalk, path: string): void {
  if (walk.seen.has(path) || walk.excluded.has(placeOf(walk, path))) return;
  walk.seen.add(path);
  walk.found.push(path);
}

/** The absolute path of a path below the root. */
export function placeOf({ place }: FolderWalk, path: string): string {
  return place.rootPrefix + path;
}

/** A path below the root as reports show it. */
export function display({ place }: FolderWalk, path: string): string {
  return place.display(path);
}

// Relative to the working directory. All paths share one prefix, unless the working directory lies below the root.
function displayed(root: string, cwd: string): (path: string) => string {
  const inside = relative(root, cwd);
  if (inside === "") return (path) => path;
  if (!isAbove(inside)) return (path) => relativePath(cwd, join(root, path));
  const before = `${relativePath(cwd, root)}/`;
  return (path) => before + path;
}

function isAbove(path: string): boolean {
  return path === ".." || path.startsWith(`..${sep}`);
}

/** The error for a starting point that does not exist. */
export function noPath(start: string): HoldfastError {
  return new HoldfastError("invalid", `the path ${start} does not exist`, {
    hint: "Correct `paths`, or the path given.",
  });
}
