import { type Matcher, matcherOf, type PatternPart } from "../model/pattern-matcher.ts";

/** A line of an ignore file, in the syntax of `.gitignore`. */
export type IgnorePattern = {
  /** Whether it negates earlier patterns (`!`). */
  readonly isException: boolean;
  readonly isForFolders: boolean;
  /** Whether it matches names at any depth; else it matches paths relative to the ignore file's folder. */
  readonly isForNames: boolean;
  /** How many of its characters are `*`, `?` or `[`. */
  readonly wildcards: number;
  readonly matches: Matcher;
};

const MAX_PATTERN_LENGTH = 512;
const MAX_WILDCARDS = 32;

/** Reads a line; null if it is blank or a comment, or can match nothing. */
export function readIgnorePattern(line: string): IgnorePattern | { readonly fault: string } | null {
  if (line.startsWith("#")) return null;
  const text = withoutTrailingSpaces(line);
  if (text.length > MAX_PATTERN_LENGTH) return { fault: `a pattern of more than ${MAX_PATTERN_LENGTH} characters` };
  const wildcards = text.match(/[*?[]/g)?.length ?? 0;
  if (wildcards > MAX_WILDCARDS) return { fault: `a pattern with more than ${MAX_WILDCARDS} wildcards` };
  const isException = text.startsWith("!");
  const path = isException ? text.slice(1) : text;
  const isForFolders = path.endsWith("/");
  const pattern = isForFolders ? path.slice(0, -1) : path;
  const parts = partsOf(pattern.replace(/^\//, ""));
  if (pattern === "" || parts === null) return null;
  return { isException, isForFolders, isForNames: !pattern.includes("/"), wildcards, matches: matcherOf(parts) };
}

// A backslash keeps the first trailing space.
function withoutTrailingSpaces(line: string): string {
  let end = line.length;
  while (line.charAt(end - 1) === " ") end -= 1;
  let backslashes = 0;
  while (line.charAt(end - 1 - backslashes) === "\\") backslashes += 1;
  return line.slice(0, backslashes % 2 === 1 ? end + 1 : end);
}

// Two stars are special only as a whole segment. An unclosed bracket and a trailing backslash match nothing.
const PIECE = new RegExp(
  [
    String.raw`(?<folders>(?:^|(?<=/))\*{2,}/)`,
    String.raw`(?<all>(?:^|(?<=/))\*{2,}$)`,
    String.raw`(?<some>\*+)`,
    String.raw`(?<one>\?)`,
    String.raw`\[(?<not>[!^]?)(?<members>\]?(?:\[:\w+:\]|\\.|[^\]\\])*)\]`,
    String.raw`(?<open>\[|\\$)`,
    String.raw`(?<text>(?:\\.|[^*?[\\])+)`,
  ].join("|"),
  "gs",
);

function partsOf(pattern: string): readonly PatternPart[] | null {
  const parts: PatternPart[] = [];
  for (const { groups = {} } of pattern.matchAll(PIECE)) {
    const part = partOf(groups);
    if (part === null) return null;
    parts.push(part);
  }
  return parts;
}

function partOf(piece: { readonly [group: string]: string | undefined }): PatternPart | null {
  const { folders, all, some, one, members, not, text } = piece;
  if (folders !== undefined) return { is: "folders" };
  if (all !== undefined) return { is: "all" };
  if (some !== undefined) return { is: "some" };
  if (one !== undefined) return { is: "one" };
  if (members !== undefined) return classOf(members, not === "" ? "" : "^");
  return text === undefined ? null : { is: "text", text: text.replaceAll(/\\(.)/gs, "$1") };
}

const posixClasses: { readonly [name: string]: string } = {
  alnum: "0-9A-Za-z",
  alpha: "A-Za-z",
  blank: " \\t",
  cntrl: "\\0-\\x1f\\x7f",
  digit: "0-9",
  graph: "!-~",
  lower: "a-z",
  print: " -~",
  punct: "!-\\/:-@\\[-`{-~",
  space: "\\t-\\r ",
  upper: "A-Z",
  xdigit: "0-9A-Fa-f",
};

function classOf(members: string, not: "" | "^"): PatternPart | null {
  const ranges: string[] = [];
  for (const [, posix, from, to = from] of members.matchAll(/\[:(\w+):\]|\\?(.)(?:-\\?(.))?/gs)) {
    const range = posix === undefined ? rangeOf(from ?? "", to ?? "") : posixClasses[posix];
    if (range === undefined) return null;
    ranges.push(range);
  }
  const one = new RegExp(`^[${not}${ranges.join("")}]$`);
  return { is: "class", has: (character) => one.test(character) };
}

// Like git: a reversed range matches its first character only.
function rangeOf(from: string, to: string): string {
  return `${escaped(from)}-${escaped(from > to ? from : to)}`;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
