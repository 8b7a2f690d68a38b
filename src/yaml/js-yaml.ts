import { type Event, getScalarValue, parseEvents, YAMLException } from "js-yaml";
import { fault } from "./fault.ts";
import { tooDeep } from "./nesting.ts";
import type { NodeEvent, Parsed, Stream } from "./stream.ts";

const CORE = "tag:yaml.org,2002:";

/** Reads one document with js-yaml's event parser: the everyday path. */
export function parseFast(text: string, depth: number): Parsed {
  try {
    const events = parseEvents(text, { maxDepth: depth + 2 });
    return { stream: events.length === 0 ? null : streamOf(text, events) };
  } catch (error) {
    return { faults: [syntaxFault(error, depth)] };
  }
}

function streamOf(text: string, events: readonly Event[]): Stream {
  return {
    events,
    text: (event) => getScalarValue(text, event),
    tag: (event) => tagName(text, event),
    anchor: (event) =>
      "anchorStart" in event && event.anchorStart >= 0 ? text.slice(event.anchorStart, event.anchorEnd) : "",
  };
}

function tagName(text: string, { tagStart, tagEnd }: NodeEvent): string {
  if (tagStart < 0) return "";
  const raw = text.slice(tagStart, tagEnd);
  if (raw.startsWith("!<")) return raw.slice(2, -1);
  return raw.startsWith("!!") ? CORE + raw.slice(2) : raw;
}

// The parser's message quotes the text, so only its position is used, and its reason to tell depth from form.
function syntaxFault(error: unknown, depth: number) {
  if (!(error instanceof YAMLException)) return fault(0, "syntax", "not valid YAML");
  const offset = error.mark?.position ?? 0;
  if (error.reason.startsWith("nesting exceeded")) return tooDeep(depth, offset);
  return fault(offset, "syntax", "not valid YAML");
}
