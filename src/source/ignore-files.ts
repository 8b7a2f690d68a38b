import type { Diagnostic } from "../core/diagnostic.ts";
import { formatOf } from "../yaml/document.ts";
import { fileDiagnostic } from "./file-diagnostic.ts";
import { type IgnorePattern, readIgnorePattern } from "./ignore-pattern.ts";
import { readRegularFile } from "./read-regular-file.ts";

/** The files in a folder that say what is passed over, later ones overriding earlier ones. */
export const ignoreFiles = [".gitignore", ".holdfastignore"] as const;

/** Bytes of an ignore file; of a larger one nothing is heeded. */
export const IGNORE_FILE_BYTES = 64 * 1024;

/** Patterns that hold in one folder, those of the folders above it included, and the wildcards in them. */
const MAX_PATTERNS = 2000;
const MAX_WILDCARDS = 1000;

/** Faults told of one ignore file. */
const MAX_FAULTS = 100;

/** An ignore file: its name in reports, and its text; null where it is too large. */
export type IgnoreFile = { readonly display: string; readonly text: string | null };

/** What the ignore files of one folder say. */
export type Scope = {
  /** Folder that the patterns are relative to: `` for the top, else ending in `/`. */
  readonly base: string;
  /** What a path gets in front where the patterns belong to a folder above the root, else empty. */
  readonly prefix: string;
  readonly patterns: readonly IgnorePattern[];
};

/** A scope, or null where the files say nothing; and what of them exceeds a limit. */
export type ReadScope = { readonly scope: Scope | null; readonly faults: readonly Diagnostic[] };

/** Opens the ignore files that there are. */
export function openIgnoreFiles(paths: readonly string[], display: (path: string) => string): readonly IgnoreFile[] {
  return paths.flatMap((path) => {
    const opened = readRegularFile(path, IGNORE_FILE_BYTES);
    if (opened.is !== "read") return [];
    const isWhole = opened.size <= opened.bytes.length;
    return [{ display: display(path), text: isWhole ? Buffer.from(opened.bytes).toString("utf8") : null }];
  });
}

/** Reads the ignore files of one folder, in which the scopes of the folders above hold too. */
export function scopeOf(
  base: string,
  files: readonly IgnoreFile[],
  { prefix = "", above = [] }: { readonly prefix?: string; readonly above?: readonly Scope[] } = {},
): ReadScope {
  const lines = files.flatMap(readLines);
  const faults = lines.flatMap(({ read, ...place }) => ("fault" in read ? [refusal(place, read.fault)] : []));
  const found = lines.flatMap(({ read, ...place }) => ("fault" in read ? [] : [{ read, place }]));
  const most = mostThatHold(
    found.map(({ read }) => read),
    above,
  );
  const beyond = found[most];
  const tooMany = beyond === undefined ? [] : [refusal(beyond.place, TOO_MANY)];
  const patterns = found.slice(0, most).map(({ read }) => read);
  return {
    scope: patterns.length === 0 ? null : { base, prefix, patterns },
    faults: [...faults.slice(0, MAX_FAULTS), ...tooMany],
  };
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

const TOO_MANY = `more than ${MAX_PATTERNS} patterns, or ${MAX_WILDCARDS} wildcards, hold in this folder`;

/** How many of the patterns can hold beside those of the folders above. */
function mostThatHold(patterns: readonly IgnorePattern[], above: readonly Scope[]): number {
  const before = above.flatMap((scope) => scope.patterns);
  let wildcards = before.reduce((sum, pattern) => sum + pattern.wildcards, 0);
  const beyond = patterns.findIndex((pattern, index) => {
    wildcards += pattern.wildcards;
    return wildcards > MAX_WILDCARDS || before.length + index >= MAX_PATTERNS;
  });
  return beyond === -1 ? patterns.length : beyond;
}

function refusal({ display, line }: Place, summary: string): Diagnostic {
  const detail = "It is not heeded, so it is not known what to pass over. Shorten it.";
  return { ...fileDiagnostic("error", "ignore-file", display, summary, detail), line, column: 1 };
}

/** Whether the scopes, outermost first, say that a path is passed over; the innermost that has a say decides. */
export function isIgnoredBy(scopes: readonly Scope[], path: string, isFolder: boolean): boolean {
  for (let at = scopes.length - 1; at >= 0; at--) {
    const scope = scopes[at];
    const said = scope === undefined ? null : sayOf(scope, path, isFolder);
    if (said !== null) return said;
  }
  return false;
}

/** Whether a scope passes over a folder, or one that the folder lies in. */
export function isHiddenBy(scope: Scope, folder: string): boolean {
  const inside = folder.slice(scope.base.length);
  const steps = inside === "" ? [] : inside.split("/");
  return steps.some((_, index) => isIgnoredBy([scope], scope.base + steps.slice(0, index + 1).join("/"), true));
}

// The last pattern that matches decides; null where none does.
function sayOf({ base, prefix, patterns }: Scope, path: string, isFolder: boolean): boolean | null {
  const inside = prefix + path.slice(base.length);
  const name = inside.slice(inside.lastIndexOf("/") + 1);
  for (let at = patterns.length - 1; at >= 0; at--) {
    const pattern = patterns[at];
    if (pattern === undefined || (pattern.isForFolders && !isFolder)) continue;
    if (pattern.matches(pattern.isForNames ? name : inside)) return !pattern.isException;
  }
  return null;
}

/** Whether a folder of this name is never looked into. */
export function isPassedOver(name: string): boolean {
  return name.startsWith(".") || name === "node_modules";
}

/** Whether a file of this name is read for manifests. */
export function isManifestFile(name: string): boolean {
  return formatOf(name) !== null && !/^(?:holdfast\.(?:ya?ml|json)|\.holdfast.*)$/.test(name);
}
