import { type Matcher, matcherOf, type PatternPart } from "./pattern-matcher.ts";

/**
 * A pattern for identities or paths: `*` matches within one segment, `**` across segments, `?` one character. A segment
 * that is only `**` may match nothing, unless it is the last.
 */
export type Glob = string;

/** Whether a glob may match other strings than itself. */
export function hasWildcard(glob: Glob): boolean {
  return /[*?]/.test(glob);
}

/** Compiles a glob into a matcher for whole strings. */
export function globMatcher(glob: Glob): Matcher {
  return matcherOf((glob.match(/(?:^|(?<=\/))\*\*\/|\*\*|[*?]|[^*?]+/g) ?? []).map(partOf));
}

function partOf(piece: string): PatternPart {
  switch (piece) {
    case "**/":
      return { is: "folders" };
    case "**":
      return { is: "all" };
    case "*":
      return { is: "some" };
    case "?":
      return { is: "one" };
    default:
      return { is: "text", text: piece };
  }
}
