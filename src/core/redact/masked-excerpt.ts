import { isSecretText } from "../../model/connection-secret.ts";
import { MASK } from "../../model/credential.ts";
import { isSecretKey, redactValue } from "../../model/sensitive-fields.ts";

/** A line of a source file as a report may show it, and the column of the caret (from 1). */
export type Excerpt = { readonly line: string; readonly column: number };

const WIDEST = 72;
/** Longer lines are not shown: they are unreadable, and masking them is slow. */
const MAX_LINE_LENGTH = 2000;
const KEYED = /^(?<lead>[\s-]*)(?<quote>["']?)(?<key>[\w./@-]{1,128})\k<quote>\s*:(?:\s+(?<value>.*))?$/;
const ITEM = /^(?<lead>[\s-]*-\s+)(?<value>\S.*)$/;
const MARK = "…";

/**
 * The line of a fault, with every possible secret masked. A line that is neither a field nor an item may be part of a
 * longer text, such as a private key; it is not shown, and the result is null.
 */
export function excerptOf(line: string, column: number): Excerpt | null {
  if (line.length > MAX_LINE_LENGTH) return null;
  const keyed = KEYED.exec(line)?.groups;
  const item = keyed === undefined ? ITEM.exec(line)?.groups : undefined;
  const { lead = "", key = "", value = "" } = keyed ?? item ?? {};
  if (keyed === undefined && item === undefined) return null;
  const shown = value === "" ? "" : maskText(value, isSecretKey(key));
  const start = line.length - value.length;
  // Masking shifts the text after a value, so the caret goes to the start of the value.
  const caret = column > start && shown !== value ? start + 1 : column;
  if (caret > WIDEST || lead.length > WIDEST) return null;
  const text = line.slice(0, start) + shown;
  if (isSecretText(text)) return null;
  return { line: text.length > WIDEST ? `${text.slice(0, WIDEST)}${MARK}` : text, column: caret };
}

function maskText(value: string, sensitive: boolean): string {
  const [, opening] = /^([[{])/.exec(value) ?? [];
  // A flow collection is a small document of its own: one suspicious key hides all of it.
  const doubtful = opening !== undefined && value.split(/[^\w-]+/).some((word) => isSecretKey(word));
  if (doubtful) return `${opening}${MARK}`;
  const shown = redactValue(value, sensitive);
  return shown === MASK ? MASK : value;
}
