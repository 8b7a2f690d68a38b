import { UNPRINTABLE } from "../model/unprintable.ts";
import { withoutCommands } from "./escape.ts";

// What `printable` escapes for people, but for the line feeds between the lines; JSON has an escape for each.
const BUT_LINE_FEEDS = new RegExp(`(?!\\n)${UNPRINTABLE.source}`, "gu");

/** A report as JSON: two spaces, a newline at the end, nothing that is not in the report, and nothing that a terminal or a CI runner obeys. */
export function jsonText(report: object): string {
  return `${withoutCommands(JSON.stringify(report, null, 2).replace(BUT_LINE_FEEDS, escaped))}\n`;
}

/** An object as one line of JSON, escaped like a report. */
export function jsonLine(value: object): string {
  return `${withoutCommands(JSON.stringify(value).replace(BUT_LINE_FEEDS, escaped))}\n`;
}

function escaped(character: string): string {
  const units = character.split("");
  return units.map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
}
