import { EVENT_ID, SCALAR_STYLE } from "js-yaml";
import { type Stream, startOf } from "./stream.ts";

// A block scalar that says its own indentation.
const INDENTED_BLOCK = /[|>][-+]?[1-9]/;
const INDENTED_MARKER = /^ +---/m;

// A list ends with the line of its last item; the fast parser takes what stands behind the item for the next key.
function isBehindItem(text: string, start: number): boolean {
  let at = start - 1;
  while (text[at] === " " || text[at] === "?") at--;
  return at >= 0 && CLOSING.includes(text[at] ?? "");
}

const CLOSING = "]}\"'";

/**
 * Whether a text uses something on which the fast parser is known to differ from the exact one: tabs, anchors, aliases,
 * tags, explicit indentation, an indented `---`, something behind a list's last item. A differential test looks for more.
 */
export function isDelicate(text: string, { events }: Stream): boolean {
  if (text.includes("\t") || (text.includes("---") && INDENTED_MARKER.test(text))) return true;
  let hasBlocks = false;
  let isAfterEnd = false;
  for (const event of events) {
    if (event.type === EVENT_ID.ALIAS) return true;
    if (isAfterEnd && isBehindItem(text, startOf(event))) return true;
    isAfterEnd = event.type === EVENT_ID.POP;
    if (!("tagStart" in event)) continue;
    if (event.tagStart >= 0 || event.anchorStart >= 0) return true;
    if (event.type === EVENT_ID.SCALAR && event.style >= SCALAR_STYLE.LITERAL_BLOCK) hasBlocks = true;
  }
  return hasBlocks && INDENTED_BLOCK.test(text);
}
