import type { Json } from "../contract/json.ts";
import { CHANGED_MASK, MASK } from "../model/credential.ts";
import { printable } from "./escape.ts";
import { looksAlike, sameLength, visibleText } from "./look-alike.ts";

/** Longer values are cut: they are unreadable, and escaping them would cost more than it is worth. */
const MAX_VALUE_LENGTH = 4096;

/** Characters kept before the first difference of two very long values. */
const MAX_LEAD = 1000;

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

/** The two sides of a difference as a report shows them: they never look equal. */
export function showSides(before: Json, after: Json): readonly [string, string] {
  if (before === MASK && after === MASK) return [MASK, CHANGED_MASK];
  const sides = excerpts(before, after);
  const [was, is] = sides.map(showValue) as [string, string];
  if (!areAlike(sides) && !looksAlike(was, is)) return [was, is];
  const [left, right] = sides.map((side) => visibleText(JSON.stringify(side))) as [string, string];
  return [left, right];
}

// Quotes around one of two texts are not what differs.
function areAlike([left, right]: readonly [Json, Json]): boolean {
  return typeof left === "string" && typeof right === "string" && looksAlike(printable(left), printable(right));
}

// An excerpt of very long values starts shortly before their first difference.
function excerpts(before: Json, after: Json): readonly [Json, Json] {
  const areTexts = typeof before === "string" && typeof after === "string";
  const [left, right] = areTexts ? [before, after] : [JSON.stringify(before), JSON.stringify(after)];
  const from = Math.max(0, sameLength(left, right) - MAX_LEAD);
  return from === 0 ? [before, after] : [left.slice(from), right.slice(from)];
}
