import { type Matcher, matcherOf, type PatternPart } from "./pattern-matcher.ts";

/**
 * A pattern over identities or paths: `*` within one segment, `**` across segments, `?` one character; a segment of `**`
 * alone may be left out, unless it is the last.
 */
export type Glob = string;

/** Makes a matcher of whole texts by a glob. */
export function globMatcher(glob: Glob): Matcher {
  return matcherOf((glob.match(/(?:^|(?<=\/))\*\*\/|\*\*|./gs) ?? []).map(partOf));
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
      return { is: "character", character: piece };
  }
}
