import { stripVTControlCharacters } from "node:util";
import { columnsOf, cutMiddle } from "./text-width.ts";

/** How words are laid out in lines. */
export type LineLayout = {
  /** What is before the first line. */
  readonly indent: string;
  /** What is before each other line; the same where it is left out. */
  readonly nextIndent?: string;
  readonly width: number;
};

/** Words in lines of a width, each after an indent; a word that is wider keeps a line of its own. */
export function wrapWords(
  text: string | readonly string[],
  { indent, nextIndent = indent, width }: LineLayout,
): readonly string[] {
  const lines: string[] = [];
  let line: string | null = null;
  const before = (): string => (lines.length === 0 ? indent : nextIndent);
  for (const word of typeof text === "string" ? text.split(" ") : text) {
    if (line === null) line = word;
    else if (shownColumns(before() + line) + 1 + shownColumns(word) <= width) line = `${line} ${word}`;
    else {
      lines.push(before() + line);
      line = word;
    }
  }
  return [...lines, before() + (line ?? "")];
}

// Colours take no columns.
function shownColumns(text: string): number {
  return columnsOf(text.includes("\u001b") ? stripVTControlCharacters(text) : text);
}

const NEXT_INDENT = "  ";

/** Words in lines of a width, each ended, and indented after the first. */
export function sentenceText(words: string | readonly string[], width: number): string {
  return linesText(words, { indent: "", nextIndent: NEXT_INDENT, width });
}

/** Words in lines of a width, each line ended. */
export function linesText(words: string | readonly string[], layout: LineLayout): string {
  return wrapWords(words, layout)
    .map((line) => `${line}\n`)
    .join("");
}

/** The words of a text, each with its middle left out where it is wider than a line. */
export function wordsIn(text: string, width: number): readonly string[] {
  return text.split(" ").map((word) => cutMiddle(word, width - NEXT_INDENT.length));
}
