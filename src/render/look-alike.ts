import { printable } from "./escape.ts";

// Readers tell the characters of one script apart, but not always those of two.
const SCRIPTS = [
  /^\p{Script=Latin}$/u,
  /^\p{Script=Greek}$/u,
  /^\p{Script=Cyrillic}$/u,
  /^\p{Script=Arabic}$/u,
  /^\p{Script=Hebrew}$/u,
  /^\p{Script=Devanagari}$/u,
  /^\p{Script=Thai}$/u,
  /^\p{Script=Han}$/u,
  /^\p{Script=Hiragana}$/u,
  /^\p{Script=Katakana}$/u,
  /^\p{Script=Hangul}$/u,
  /^\p{Extended_Pictographic}$/u,
];
const ASCII = /^[\x20-\x7e]*$/;

/** Whether two printable lines look equal. */
export function looksAlike(line: string, other: string): boolean {
  const [left, right] = [seen(line), seen(other)];
  if (left === right) return true;
  if (ASCII.test(left) && ASCII.test(right)) return false;
  const [some, others] = [[...left], [...right]];
  return some.length === others.length && some.every((one, at) => areDrawnAlike(one, others[at] ?? ""));
}

// What a reader sees of a line: no blanks at its end, and no difference between forms of the same character.
function seen(line: string): string {
  const plain = ASCII.test(line)
    ? line
    : line
        .replace(/\p{Variation_Selector}/gu, "")
        .normalize("NFKC")
        .replace(/\p{Zs}/gu, " ");
  return plain.trimEnd();
}

function areDrawnAlike(one: string, other: string): boolean {
  if (one === other) return true;
  const hasAscii = [one, other].map((character) => ASCII.test(character));
  if (hasAscii[0] === hasAscii[1]) return !(hasAscii[0] || areOfOneScript(one, other));
  // A letter with an accent is told from the letter; one that is drawn otherwise, such as a dotless i, may not be.
  const base = (hasAscii[0] ? other : one).normalize("NFD").charAt(0);
  return !(ASCII.test(base) && areOfOneScript(one, other));
}

function areOfOneScript(one: string, other: string): boolean {
  return SCRIPTS.some((script) => script.test(one) && script.test(other));
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
