import { manifestTypes } from "../schema/schemas.ts";
import { conflictSides } from "../yaml/merge-conflict.ts";

/**
 * Whether a text that cannot be parsed names a manifest type where a manifest does. Only then do its faults count, since
 * most files of a repository are not manifests (templates, lock files, workflows).
 */
export function claimsType(text: string): boolean {
  return manifestClaim(text);
}

/** Creates a test of whether a text that cannot be parsed has one of these types as the value of its own `type`. */
function claimTester(types: readonly string[]): (text: string) => boolean {
  const value = `[ \\t]*:[ \\t]*["']?(?:${types.join("|")})(?![\\w-])`;
  const inBlock = new RegExp(`^${MARK}([ \\t]*)["']?type["']?${value}`, "gm");
  const key = `"type"|'type'|(?<![\\w"'$@-])type`;
  const inBrackets = new RegExp(`((?:${key})${value})|"(?:[^"\\\\\\n]|\\\\.)*"|[{}[\\]]`, "g");
  return (text) =>
    conflictSides(text).some((side) =>
      IN_BRACKETS.test(side) ? claimsInBrackets(side, inBrackets) : claimsInBlock(side, inBlock),
    );
}

/** A pattern for a text in which a key, given as a pattern, has one of these types as its value, at any depth. */
export function claimOf(types: readonly string[], key = "type"): RegExp {
  return new RegExp(`(?:^|[\\s,{"'-])${key}["']?[ \\t]*:[ \\t]*["']?(?:${types.join("|")})(?![\\w-])`);
}

// Templates begin with `{{`, `{%` or `{#`.
const IN_BRACKETS = /^\s*[{[](?![{%#])/;

// A byte-order mark, as UTF-8 or as its bytes.
const MARK = "(?:\\ufeff|\\u00ef\\u00bb\\u00bf)?";
const KEY = new RegExp(`^${MARK}([ \\t]*)["']?[\\w.@$/-]+["']?[ \\t]*:`, "gm");

// The fields of the outermost mapping are the least indented ones.
function claimsInBlock(text: string, claim: RegExp): boolean {
  const indent = leastIndent(text, claim);
  return indent !== null && indent <= (leastIndent(text, KEY) ?? 0);
}

function leastIndent(text: string, pattern: RegExp): number | null {
  let least: number | null = null;
  for (const [, { length } = ""] of text.matchAll(pattern)) least = Math.min(least ?? length, length);
  return least;
}

function claimsInBrackets(text: string, token: RegExp): boolean {
  let depth = 0;
  for (const [found, claim] of text.matchAll(token)) {
    if (claim !== undefined && depth === 1) return true;
    if (found === "{" || found === "[") depth++;
    else if (found === "}" || found === "]") depth--;
  }
  return false;
}

const manifestClaim = claimTester(manifestTypes);
