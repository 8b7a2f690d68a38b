import { printable } from "./escape.ts";

// Letters of other scripts, dashes and quotes that most fonts draw like a character of ASCII.
const DRAWN_LIKE = new Map<string, string>();
for (const [others, ascii] of [
  ["аеорсхуіјѕһԁԛԝАВЕКМНОРСТХУІЈЅ", "aeopcxyijshdqwABEKMHOPCTXYIJS"],
  ["οανρΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "oavpABEZHIKMNOPTYX"],
  ["‐‑‒–—−‘’“”·", "------''\"\"."],
] as const) {
  for (const [at, character] of [...others].entries()) DRAWN_LIKE.set(character, ascii.charAt(at));
}

// What a reader sees of a line: no blanks at its end, and no difference between characters that are drawn alike.
function seen(line: string): string {
  const plain = /^[\x20-\x7e]*$/.test(line) ? line : line.normalize("NFKC").replace(/[^\x20-\x7e]/gu, drawnLike);
  return plain.trimEnd();
}

function drawnLike(character: string): string {
  return DRAWN_LIKE.get(character) ?? (/\p{Zs}/u.test(character) ? " " : character);
}

/** Whether two printable lines look equal. */
export function looksAlike(line: string, other: string): boolean {
  return seen(line) === seen(other);
}

/** A text with everything visible: characters outside ASCII and blanks at its end as `\uXXXX`. */
export function visibleText(text: string): string {
  return printable(text).replace(/[^\x20-\x7e]|\x20+$/gu, (found) =>
    Array.from({ length: found.length }, (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, "0")}`).join(
      "",
    ),
  );
}

/** The number of leading characters that two texts share. */
export function sameLength(before: string, after: string): number {
  let same = 0;
  while (same < before.length && before[same] === after[same]) same += 1;
  return same;
}
