import { type Matcher, matcherOf, type PatternPart } from "./pattern-matcher.ts";

/**
 * A pattern over identities or paths: `*` within one segment, `**` across segments, `?` one character; a segment of `**`
 * alone may be left out, unless it is the last.
 */
export type Glob = string;

/** Whether the whole text matches the glob. */
export function globMatches(glob: Glob, text: string): boolean {
  return compile(glob)(text);
}

const compiled = new Map<Glob, Matcher>();

function compile(glob: Glob): Matcher {
  const known = compiled.get(glob);
  if (known !== undefined) return known;
  const matcher = matcherOf((glob.match(/(?:^|(?<=\/))\*\*\/|\*\*|./gs) ?? []).map(partOf));
  compiled.set(glob, matcher);
  return matcher;
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
