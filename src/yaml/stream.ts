import { EVENT_ID, type Event, SCALAR_STYLE } from "js-yaml";
import type { Fault } from "./fault.ts";

/** An event that opens a node, with its properties. */
export type NodeEvent = Extract<Event, { readonly tagStart: number }>;

/** A scalar event. */
export type ScalarEvent = Extract<Event, { readonly valueStart: number }>;

/**
 * The nodes of one document in order, whichever parser read them: the one form from which values are built and
 * positions are found, so that every rule of ours is written once.
 */
export type Stream = {
  readonly events: readonly Event[];
  /** The scalar's text, with quoting, escapes and folding resolved. */
  readonly text: (event: ScalarEvent) => string;
  /** The full name of its explicit tag, `!` for the non-specific one, empty without. */
  readonly tag: (event: NodeEvent) => string;
  /** The name that it is anchored by, or that an alias refers to; empty without. */
  readonly anchor: (event: Event) => string;
};

/** A parser's answer: the document's nodes (none when there is only white space and comments), or what is wrong. */
export type Parsed = { readonly stream: Stream | null } | { readonly faults: readonly Fault[] };

/** Where a node starts in the text, its properties included; -1 when the parser does not tell. */
export function startOf(event: Event): number {
  if (event.type === EVENT_ID.DOCUMENT || event.type === EVENT_ID.POP) return -1;
  if (event.type === EVENT_ID.ALIAS) return event.anchorStart - 1;
  const { tagStart, anchorStart } = event;
  if (tagStart < 0 && anchorStart < 0) return contentStart(event);
  return Math.min(tagStart < 0 ? anchorStart - 1 : tagStart, anchorStart < 0 ? tagStart : anchorStart - 1);
}

// A quoted scalar's value starts after its quote.
function contentStart(event: NodeEvent): number {
  if (event.type !== EVENT_ID.SCALAR) return event.start;
  const isQuoted = event.style === SCALAR_STYLE.SINGLE_QUOTED || event.style === SCALAR_STYLE.DOUBLE_QUOTED;
  return isQuoted ? event.valueStart - 1 : event.valueStart;
}
