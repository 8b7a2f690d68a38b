import type { Json } from "../contract/json.ts";
import { MASK } from "../model/credential.ts";
import { printable } from "./escape.ts";

/** Longer values are cut: they are unreadable, and escaping them would cost more than it is worth. */
const MAX_VALUE_LENGTH = 4096;

/** A value in a report: one line, safe to print; ambiguous texts are quoted. */
export function showValue(value: Json): string {
  if (value === null) return "(none)";
  if (value === MASK) return MASK;
  const text = typeof value === "string" && isPlain(value) ? value : JSON.stringify(value);
  return printable(text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}…` : text);
}

// A text that YAML would read unchanged without quotes, and that cannot be confused with our own words.
function isPlain(text: string): boolean {
  if (!/^[\p{L}\p{N}/][\p{L}\p{N} ./:@_+-]*$/u.test(text) || text.endsWith(" ")) return false;
  return Number.isNaN(Number(text)) && !/^(?:true|false|null|yes|no)$/i.test(text);
}
