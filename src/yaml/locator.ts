import { pointerTokens } from "../contract/json-pointer.ts";
import type { ParsedDocument } from "./document.ts";
import type { FieldOffsets } from "./field-offsets.ts";

/** Finds the position of a field by its JSON Pointer; for a missing field, that of its nearest existing parent. */
export type Locate = (pointer: string, at?: "key" | "value") => Position;

/** A position in a source file; both numbers count from 1. */
export type Position = { readonly line: number; readonly column: number };

/** Positions in one document. The field offsets are read on first use and kept. */
export function locator(document: ParsedDocument, positionAt: (offset: number) => Position): Locate {
  let fieldOffsets: FieldOffsets | null | undefined;
  return (pointer, at = "value") => {
    if (fieldOffsets === undefined) fieldOffsets = document.fieldOffsets();
    return positionAt(offsetOf(fieldOffsets, pointer, at) ?? document.offset);
  };
}

// A missing field has the position of its parent's key, a wrong value its own, the document its start.
function offsetOf(fieldOffsets: FieldOffsets | null, pointer: string, at: "key" | "value"): number | null {
  let place: FieldOffsets | undefined;
  let inside = fieldOffsets?.inside;
  for (const token of pointerTokens(pointer)) {
    const next = inside?.get(token);
    if (next === undefined) return place?.key ?? null;
    place = next;
    inside = next.inside;
  }
  return place?.[at] ?? null;
}

/** Converts offsets in one text to line and column, both from 1. The text is scanned on first use. */
export function lineFinder(text: string): (offset: number) => Position {
  let starts: readonly number[] | null = null;
  return (offset) => {
    if (offset === 0) return { line: 1, column: 1 };
    starts ??= lineStarts(text);
    const line = lastAtOrBefore(starts, offset);
    return { line: line + 1, column: offset - (starts[line] ?? 0) + 1 };
  };
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

function lastAtOrBefore(starts: readonly number[], offset: number): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}
