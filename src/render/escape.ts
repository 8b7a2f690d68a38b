import { escapeUnprintable } from "../model/unprintable.ts";

// What CI runners take for a command in what a step prints: `##[name]`, `##vso[name]` and `##teamcity[name]` anywhere in
// a line, `::name::` at its beginning, white space left aside, and the marks of sections.
const COMMAND = /#(?=#\w*(?:\[|$))|(?<=^|\s):(?=:)|(?<=section_(?:start|end)):/gu;

/**
 * The text with everything that could steer a terminal, forge a report or command a CI runner shown as `\uXXXX`, or
 * `\u{XXXXX}` beyond that.
 */
export function printable(text: string): string {
  return withoutCommands(escapeUnprintable(text));
}

/** Foreign text of several lines, such as a stack: like `printable`, but line feeds stay. */
export function printableLines(text: string): string {
  return text.split("\n").map(printable).join("\n");
}

/**
 * The text with the first character of each command to a CI runner shown as `\uXXXX`: in the strings of a JSON text,
 * where alone there can be any, that is the same character.
 */
export function withoutCommands(text: string): string {
  // Hardly any text has one of these, and that is found out much sooner.
  if (!text.includes("##") && !text.includes("::") && !text.includes("section_")) return text;
  return text.replace(COMMAND, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
