import { EVENT_ID } from "js-yaml";
import type { Stream } from "./stream.ts";

// A block scalar that says its own indentation.
const INDENTED_BLOCK = /[|>][-+]?[1-9]/;
const INDENTED_MARKER = /^ +---/m;

/**
 * Whether a text uses something on which the fast parser is known to differ from the exact one: tabs, anchors, aliases,
 * tags, explicit indentation, an indented `---`. A differential test looks for more.
 */
export function isDelicate(text: string, { events }: Stream): boolean {
  if (text.includes("\t") || INDENTED_BLOCK.test(text) || INDENTED_MARKER.test(text)) return true;
  return events.some(
    (event) =>
      event.type === EVENT_ID.ALIAS || ("tagStart" in event && (event.tagStart >= 0 || event.anchorStart >= 0)),
  );
}
