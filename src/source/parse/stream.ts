import type { Event } from "js-yaml";
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
  const starts = [
    "tagStart" in event ? event.tagStart : -1,
    "anchorStart" in event ? event.anchorStart - 1 : -1,
    "valueStart" in event ? openingOf(event) : -1,
    "start" in event ? event.start : -1,
  ].filter((start) => start >= 0);
  return starts.length === 0 ? -1 : Math.min(...starts);
}

// A quoted scalar's value starts after its quote.
function openingOf({ valueStart, style }: ScalarEvent): number {
  const isQuoted = style === 2 || style === 3;
  return isQuoted ? valueStart - 1 : valueStart;
}
