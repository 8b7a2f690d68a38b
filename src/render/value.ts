import type { Json } from "../contract/json.ts";
import { MASK } from "../core/sensitive.ts";
import { printable } from "./escape.ts";

const LONGEST = 120;

/** A value in a report: one line, cut where it is long, safe to print. */
export function showValue(value: Json): string {
  if (value === null) return "(none)";
  if (value === MASK) return MASK;
  const text = printable(JSON.stringify(value));
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}… (${text.length - LONGEST} more characters)`;
}
