import type { Json } from "../contract/json.ts";
import { MASK } from "../model/credential.ts";
import { printable } from "./escape.ts";

const LONGEST = 120;

/** A value in a report: one line, cut where it is long, safe to print. */
export function showValue(value: Json): string {
  if (value === null) return "(none)";
  if (value === MASK) return MASK;
  const characters = [...printable(JSON.stringify(value))];
  const rest = characters.length - LONGEST;
  return rest <= 0 ? characters.join("") : `${characters.slice(0, LONGEST).join("")}… (${rest} more characters)`;
}
