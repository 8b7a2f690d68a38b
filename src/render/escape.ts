import { escapeJson, escapeUnprintable } from "../model/unprintable.ts";

// Output that CI runners execute as a command: `##[name]`, `##vso[name]` and `##teamcity[name]` anywhere in a line,
// `::name::` at its start (after white space), and section markers. A colon alone at the end of a text counts, because a
// report may continue with another one.
const COMMAND = /#(?=#\w*(?:\[|$))|(?<=^|\s):(?=:|$)|(?<=section_(?:start|end)):/gu;

/**
 * The text with every character that could control a terminal, forge a report or command a CI runner shown as `\uXXXX`,
 * or as `\u{XXXXX}` above U+FFFF.
 */
export function printable(text: string): string {
  return withoutCommands(escapeUnprintable(text));
}

/** Untrusted text of several lines, such as a stack trace: like `printable`, but line feeds stay. */
export function printableLines(text: string): string {
  return text.split("\n").map(printable).join("\n");
}

/** A unified diff that can be applied: like `printableLines`, but tabs and the line ends of Windows stay. */
export function printableDiff(diff: string): string {
  return diff.split("\n").map(printableLine).join("\n");
}

function printableLine(line: string): string {
  const end = line.endsWith("\r") ? "\r" : "";
  const pieces = line.slice(0, line.length - end.length).split("\t");
  return withoutCommands(pieces.map(escapeUnprintable).join("\t")) + end;
}

/**
 * The text with the first character of each CI command shown as `\uXXXX`. JSON has such text only in strings, where the
 * escape denotes the same character.
 */
export function withoutCommands(text: string): string {
  // A cheap check first, since hardly any text contains these.
  if (!text.includes("##") && !text.includes("::") && !text.endsWith(":") && !text.includes("section_")) return text;
  return text.replace(COMMAND, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/**
 * A report as JSON: two-space indentation, a final newline, and nothing that a terminal or a CI runner would execute.
 */
export function jsonText(report: object): string {
  return `${withoutCommands(escapeJson(JSON.stringify(report, null, 2)))}\n`;
}

/** An object as one line of JSON, escaped like a report. */
export function jsonLine(value: object): string {
  return `${withoutCommands(escapeJson(JSON.stringify(value)))}\n`;
}
