import ignore, { type Ignore } from "ignore";
import { formatOf } from "./parse/document.ts";

/** The files in a folder that say what is passed over, later ones overriding earlier ones. */
export const ignoreFiles = [".gitignore", ".holdfastignore"] as const;

/** Bytes of an ignore file that are read at most. */
export const IGNORE_FILE_BYTES = 64 * 1024;

/** What the ignore files of one folder say. */
export type Scope = {
  /** Folder that the patterns are relative to: `` for the top, else ending in `/`. */
  readonly base: string;
  /** What a path gets in front where the patterns belong to a folder above the root, else empty. */
  readonly prefix: string;
  readonly rules: Ignore;
};

// A pattern becomes a regular expression; with many wildcards a hostile one could take ages.
const LONGEST_PATTERN = 256;
const MOST_WILDCARDS = 6;

/** Reads the ignore files of one folder; null when they say nothing. */
export function scopeOf(base: string, contents: readonly string[], prefix = ""): Scope | null {
  const patterns = contents.flatMap((content) => content.split(/\r?\n/)).filter(isHarmless);
  return patterns.length === 0 ? null : { base, prefix, rules: ignore({ ignorecase: false }).add(patterns) };
}

function isHarmless(pattern: string): boolean {
  if (pattern === "" || pattern.startsWith("#")) return false;
  return pattern.length <= LONGEST_PATTERN && (pattern.match(/\*+|\?/g)?.length ?? 0) <= MOST_WILDCARDS;
}

/** Whether the scopes, outermost first, say that a path is passed over; the innermost that has a say decides. */
export function isIgnoredBy(scopes: readonly Scope[], path: string, isFolder: boolean): boolean {
  for (const { base, prefix, rules } of scopes.toReversed()) {
    const name = prefix + path.slice(base.length);
    // The folder of the ignore file itself is beyond its own say.
    if (name === "") continue;
    const { ignored, unignored } = rules.test(name + (isFolder ? "/" : ""));
    if (ignored || unignored) return ignored;
  }
  return false;
}

/** Whether a folder of this name is never looked into. */
export function isPassedOver(name: string): boolean {
  return name.startsWith(".") || name === "node_modules";
}

/** Whether a file of this name is read for manifests. */
export function isManifestFile(name: string): boolean {
  return formatOf(name) !== null && !/^(?:holdfast\.(?:ya?ml|json)|\.holdfast.*)$/.test(name);
}
