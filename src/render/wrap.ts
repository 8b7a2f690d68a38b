import { stripVTControlCharacters } from "node:util";
import { columnsOf, cutEnd, cutMiddle, firstColumns } from "./text-width.ts";

/** Layout of wrapped lines. */
export type LineLayout = {
  /** The indent of the first line. */
  readonly indent: string;
  /** The indent of the other lines. @default `indent` */
  readonly nextIndent?: string;
  readonly width: number;
};

/** Wraps words into indented lines of a width; a wider word gets a line of its own. */
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

// Colour codes take no columns.
function shownColumns(text: string): number {
  return columnsOf(text.includes("\u001b") ? stripVTControlCharacters(text) : text);
}

const NEXT_INDENT = "  ";

/** Wraps words into lines of a width, each with a line feed, and indented after the first. */
export function sentenceText(words: string | readonly string[], width: number): string {
  return linesText(words, { indent: "", nextIndent: NEXT_INDENT, width });
}

/** Wraps words into lines of a width, each with a line feed. */
export function linesText(words: string | readonly string[], layout: LineLayout): string {
  return wrapWords(words, layout)
    .map((line) => `${line}\n`)
    .join("");
}

/** The words of a text; a word wider than a line is cut in its middle. */
export function wordsIn(text: string, width: number): readonly string[] {
  return text.split(" ").map((word) => cutMiddle(word, width - NEXT_INDENT.length));
}

/** The words of a text; a word wider than a number of columns is broken into several, so that none of it is lost. */
export function brokenWords(text: string, columns: number): readonly string[] {
  return text.split(" ").flatMap((word) => [...piecesOf(word, columns)]);
}

function* piecesOf(word: string, columns: number): Generator<string> {
  let rest = word;
  while (columnsOf(rest) > columns) {
    const piece = firstColumns(rest, columns);
    if (piece === "") break;
    yield piece;
    rest = rest.slice(piece.length);
  }
  yield rest;
}

/** A text whose lines are wrapped to a width; a line that continues is indented two columns more than it began. */
export function wrappedLines(text: string, width: number): string {
  return text
    .split("\n")
    .flatMap((line) => {
      if (columnsOf(line) <= width) return [line];
      const indent = /^ */.exec(line)?.[0] ?? "";
      const words = brokenWords(line.slice(indent.length), width - indent.length - NEXT_INDENT.length);
      return wrapWords(words, { indent, nextIndent: indent + NEXT_INDENT, width });
    })
    .join("\n");
}

/** Joins parts into lines of a width; `rest` is the text for the parts that exceed the allowed lines. */
export function packIntoLines(
  parts: readonly string[],
  {
    columns,
    mostLines,
    rest,
  }: { readonly columns: number; readonly mostLines: number; readonly rest: (left: number) => string },
): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const [index, part] of parts.entries()) {
    const next = line === "" ? part : `${line} · ${part}`;
    if (columnsOf(next) <= columns) {
      line = next;
      continue;
    }
    if (lines.length === mostLines - 1) return [...lines, line, cutEnd(rest(parts.length - index), columns)];
    if (line !== "") lines.push(line);
    line = cutEnd(part, columns);
  }
  return line === "" ? lines : [...lines, line];
}
