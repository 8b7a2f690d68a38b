/** One part of a pattern for strings with slashes, such as paths and identities. */
export type PatternPart =
  | { readonly is: "text"; readonly text: string }
  /** Any one character except a slash. */
  | { readonly is: "one" }
  /** One character of a class, except a slash. */
  | { readonly is: "class"; readonly has: (character: string) => boolean }
  /** Any number of characters except slashes. */
  | { readonly is: "some" }
  /** Any number of characters. */
  | { readonly is: "all" }
  /** Any number of folders, each with its slash. Only at the beginning or after a slash. */
  | { readonly is: "folders" };

/** Whether a whole string matches. */
export type Matcher = (text: string) => boolean;

/**
 * Compiles a pattern into a matcher whose time grows with the length of the text and of the pattern, never with the
 * number of ways to match it, because patterns come from repositories.
 */
export function matcherOf(parts: readonly PatternPart[]): Matcher {
  const [prefix, suffix] = [textOf(parts.at(0)), textOf(parts.at(-1))];
  const texts = parts.map(textOf).filter((text) => text !== "");
  // Most texts do not match, which is usually seen at one of their ends.
  const mayMatch: Matcher = (text) =>
    text.startsWith(prefix) && text.endsWith(suffix) && texts.every((one) => text.includes(one));
  return (text) => mayMatch(text) && matches(parts, text);
}

function textOf(part: PatternPart | undefined): string {
  return part?.is === "text" ? part.text : "";
}

// One row of the offsets at which the parts so far can end, changed in place by each part.
function matches(parts: readonly PatternPart[], text: string): boolean {
  const ends = new Uint8Array(text.length + 1);
  ends[0] = 1;
  for (const part of parts) {
    const first = ends.indexOf(1);
    if (first === -1) return false;
    switch (part.is) {
      case "text":
        advance(ends, first, part.text.length, (at) => text.startsWith(part.text, at));
        break;
      case "one":
        advance(ends, first, 1, (at) => text[at] !== "/");
        break;
      case "class":
        advance(ends, first, 1, (at) => text[at] !== "/" && part.has(text.charAt(at)));
        break;
      case "some":
        for (let at = first; at < text.length; at++) if (ends[at] === 1 && text[at] !== "/") ends[at + 1] = 1;
        break;
      case "all":
        ends.fill(1, first);
        break;
      case "folders":
        for (let at = first; at < text.length; at++) if (text[at] === "/") ends[at + 1] = 1;
        break;
    }
  }
  return ends[text.length] === 1;
}

function advance(ends: Uint8Array, first: number, length: number, isRead: (at: number) => boolean): void {
  for (let at = ends.length - 1 - length; at >= first; at--) ends[at + length] = ends[at] === 1 && isRead(at) ? 1 : 0;
  ends.fill(0, first, first + length);
}
