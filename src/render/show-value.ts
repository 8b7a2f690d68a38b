import type { Json } from "../contract/json.ts";
import { MASK } from "../model/credential.ts";
import { printable } from "./escape.ts";

/** Of a longer value the rest is never shown: nobody reads it, and making it printable would cost more than it tells. */
const MAX_VALUE_LENGTH = 4096;

/** A value in a report: one line, safe to print; texts that could be taken for something else are in quotes. */
export function showValue(value: Json): string {
  if (value === null) return "(none)";
  if (value === MASK) return MASK;
  const text = typeof value === "string" && isPlain(value) ? value : JSON.stringify(value);
  return printable(text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}…` : text);
}

// What YAML would read as the same text without quotes, and nobody takes for a name of ours.
function isPlain(text: string): boolean {
  if (!/^[\p{L}\p{N}/][\p{L}\p{N} ./:@_+-]*$/u.test(text) || text.endsWith(" ")) return false;
  return Number.isNaN(Number(text)) && !/^(?:true|false|null|yes|no)$/i.test(text);
}
