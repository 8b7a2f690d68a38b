import { basename, dirname, join } from "node:path";
import type { Diagnostic } from "../core/diagnostic.ts";
import { relativePath } from "../files/real-path.ts";
import { formatOf } from "../yaml/document.ts";
import { fileDiagnostic } from "./file-diagnostic.ts";
import type { Repository } from "./git/repository-paths.ts";
import { type IgnorePattern, readIgnorePattern } from "./ignore-pattern.ts";
import { readRegularFile } from "./read-regular-file.ts";

/** Holdfast's own ignore file. It leaves out tracked files too; the other ignore files concern untracked files only. */
export const OWN_IGNORE_FILE = ".holdfastignore";

/** The ignore files of a folder; later ones override earlier ones. */
export const ignoreFiles = [".gitignore", OWN_IGNORE_FILE] as const;

/** The largest ignore file, in bytes; a larger one is refused as a whole. */
export const IGNORE_FILE_BYTES = 64 * 1024;

/** Limits of the patterns that apply in one folder, including those of its parent folders, and of their wildcards. */
const MAX_PATTERNS = 2000;
const MAX_WILDCARDS = 1000;

/** How many faults of one ignore file are reported. */
const MAX_FAULTS = 100;

/** An ignore file: its name in reports, and its text, null if it is too large. */
export type IgnoreFile = { readonly display: string; readonly text: string | null; readonly isOwn: boolean };

/** The patterns of one ignore file. */
export type Scope = {
  /** The ignore file as reports name it. */
  readonly file: string;
  /** Whether it is Holdfast's own, which also applies to tracked files. */
  readonly isOwn: boolean;
  /** Folder that the patterns are relative to: `` for the top, else ending in `/`. */
  readonly base: string;
  /** A prefix for paths, if the patterns belong to a folder above the root; else empty. */
  readonly prefix: string;
  readonly patterns: readonly IgnorePattern[];
};

/** The scopes of the ignore files that have patterns, and the lines that exceed a limit. */
export type ReadScopes = { readonly scopes: readonly Scope[]; readonly faults: readonly Diagnostic[] };

/** Reads the ignore files that exist. */
export function openIgnoreFiles(paths: readonly string[], display: (path: string) => string): readonly IgnoreFile[] {
  return paths.flatMap((path) => {
    const opened = readRegularFile(path, IGNORE_FILE_BYTES);
    if (opened.is !== "read") return [];
    const isWhole = opened.size <= opened.bytes.length;
    const text = isWhole ? Buffer.from(opened.bytes).toString("utf8") : null;
    return [{ display: display(path), text, isOwn: basename(path) === OWN_IGNORE_FILE }];
  });
}

/** Reads the ignore files of one folder. The scopes of its parent folders apply in it too. */
export function scopesOf(
  base: string,
  files: readonly IgnoreFile[],
  { prefix = "", above = [] }: { readonly prefix?: string; readonly above?: readonly Scope[] } = {},
): ReadScopes {
  const lines = files.flatMap(readLines);
  const faults = lines.flatMap(({ read, ...place }) => ("fault" in read ? [ignoreFileFault(place, read.fault)] : []));
  const found = lines.flatMap(({ read, ...place }) => ("fault" in read ? [] : [{ read, place }]));
  const most = countWithinLimits(
    found.map(({ read }) => read),
    above,
  );
  const beyond = found[most];
  const tooMany = beyond === undefined ? [] : [ignoreFileFault(beyond.place, TOO_MANY)];
  const applied = Map.groupBy(found.slice(0, most), ({ place }) => place.display);
  const scopes = files.flatMap(({ display, isOwn }) => {
    const patterns = applied.get(display)?.map(({ read }) => read);
    return patterns === undefined ? [] : [{ file: display, isOwn, base, prefix, patterns }];
  });
  return { scopes, faults: [...faults.slice(0, MAX_FAULTS), ...tooMany] };
}

type Line = Place & { readonly read: IgnorePattern | { readonly fault: string } };

type Place = { readonly display: string; readonly line: number };

function readLines({ display, text }: IgnoreFile): readonly Line[] {
  if (text === null) return [{ display, line: 1, read: { fault: `more than ${IGNORE_FILE_BYTES / 1024} KiB` } }];
  const lines: Line[] = [];
  for (const [index, line] of text
    .replace(/^\ufeff/, "")
    .split(/\r?\n/)
    .entries()) {
    const read = readIgnorePattern(line);
    if (read !== null) lines.push({ display, line: index + 1, read });
    if (lines.length > MAX_PATTERNS) break;
  }
  return lines;
}

const TOO_MANY = `more than ${MAX_PATTERNS} patterns, or ${MAX_WILDCARDS} wildcards, apply in this folder`;

/** How many of the patterns are within the limits, together with those of the parent folders. */
function countWithinLimits(patterns: readonly IgnorePattern[], above: readonly Scope[]): number {
  const before = above.flatMap((scope) => scope.patterns);
  let wildcards = before.reduce((sum, pattern) => sum + pattern.wildcards, 0);
  const beyond = patterns.findIndex((pattern, index) => {
    wildcards += pattern.wildcards;
    return wildcards > MAX_WILDCARDS || before.length + index >= MAX_PATTERNS;
  });
  return beyond === -1 ? patterns.length : beyond;
}

function ignoreFileFault({ display, line }: Place, summary: string): Diagnostic {
  const detail = "It is not applied, so which files to ignore is unknown. Shorten it.";
  return { ...fileDiagnostic("error", "ignore-file", display, summary, detail), line, column: 1 };
}

/**
 * The scope, of these from the outermost to the innermost, that ignores a path; null if none does. Holdfast's own are
 * asked first, so that a tracked file is treated alike in a folder and in a commit. The innermost scope with a matching
 * pattern decides.
 */
export function ignoringScope(scopes: readonly Scope[], path: string, isFolder: boolean): Scope | null {
  if (scopes.length === 0) return null;
  return deciding(scopes, path, isFolder, { isOwn: true }) ?? deciding(scopes, path, isFolder, { isOwn: false });
}

function deciding(
  scopes: readonly Scope[],
  path: string,
  isFolder: boolean,
  { isOwn }: { readonly isOwn: boolean },
): Scope | null {
  for (let at = scopes.length - 1; at >= 0; at--) {
    const scope = scopes[at];
    if (scope === undefined || (isOwn && !scope.isOwn)) continue;
    const decision = decisionOf(scope, path, isFolder);
    if (decision !== null) return decision ? scope : null;
  }
  return null;
}

/** Whether a scope ignores a folder or one of its parent folders. */
export function isHiddenBy(scope: Scope, folder: string): boolean {
  const inside = folder.slice(scope.base.length);
  const steps = inside === "" ? [] : inside.split("/");
  return steps.some((_, at) => decisionOf(scope, scope.base + steps.slice(0, at + 1).join("/"), true) === true);
}

// The last pattern that matches decides; null if none matches.
function decisionOf({ base, prefix, patterns }: Scope, path: string, isFolder: boolean): boolean | null {
  const inside = prefix + path.slice(base.length);
  const name = inside.slice(inside.lastIndexOf("/") + 1);
  for (let at = patterns.length - 1; at >= 0; at--) {
    const pattern = patterns[at];
    if (pattern === undefined || (pattern.isForFolders && !isFolder)) continue;
    if (pattern.matches(pattern.isForNames ? name : inside)) return !pattern.isException;
  }
  return null;
}

/** Whether folders of this name are always skipped. */
export function isSkippedName(name: string): boolean {
  return name.startsWith(".") || name === "node_modules";
}

/** Whether a file of this name is read for manifests. */
export function isManifestFile(name: string): boolean {
  return formatOf(name) !== null && !/^(?:holdfast\.(?:ya?ml|json)|\.holdfast.*)$/.test(name);
}

/** The ignore files above a root. */
type OuterScopes = {
  /** Their patterns, outermost first. */
  readonly scopes: readonly Scope[];
  /** The lines that exceed a limit. */
  readonly faults: readonly Diagnostic[];
  /** Paths of Holdfast's own, relative to the root. */
  readonly own: readonly string[];
};

/** Reads the ignore files above a root, up to the top of its checkout. */
export function outerScopes(root: string, cwd: string, repository: Repository | null): OuterScopes {
  if (repository === null || repository.top === null) return { scopes: [], faults: [], own: [] };
  const { top, commonFolder } = repository;
  const [scopes, faults, own]: [Scope[], Diagnostic[], string[]] = [[], [], []];
  const add = (folder: string, paths: readonly string[]): void => {
    const below = relativePath(folder, root);
    const files = openIgnoreFiles(paths, (path) => relativePath(cwd, path));
    const read = scopesOf("", files, { prefix: below === "" ? "" : `${below}/`, above: scopes });
    scopes.push(...read.scopes);
    faults.push(...read.faults);
    if (files.some(({ isOwn }) => isOwn)) own.push(`${relativePath(root, folder)}/${OWN_IGNORE_FILE}`);
  };
  add(top, [join(commonFolder, "info", "exclude")]);
  for (const folder of between(top, root)) {
    add(
      folder,
      ignoreFiles.map((name) => join(folder, name)),
    );
  }
  // If the operator names an ignored folder as the source, the ignore files that name it do not apply.
  const applied = scopes.filter((scope) => !isHiddenBy({ ...scope, prefix: "" }, scope.prefix.slice(0, -1)));
  return { scopes: applied, faults, own };
}

// The folders from the top down to the root's parent. The root's own ignore files are read with its entries.
function between(top: string, root: string): readonly string[] {
  const folders: string[] = [];
  for (let at = root; at !== top; ) {
    at = dirname(at);
    folders.unshift(at);
  }
  return folders;
}
