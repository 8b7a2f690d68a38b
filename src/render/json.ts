import { escapeJson } from "../model/unprintable.ts";
import { withoutCommands } from "./escape.ts";

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
