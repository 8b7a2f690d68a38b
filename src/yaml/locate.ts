import { pointerTokens } from "../contract/reference.ts";
import type { Position } from "../model/position.ts";
import type { ParsedDocument } from "./document.ts";
import type { DocumentOutline } from "./outline.ts";

/** Finds fields by JSON Pointer; a field that is not there is found where its parent is. */
export type Locate = (pointer: string, at?: "key" | "value") => Position;

/** Positions in one document, read when first asked and kept. */
export function locator(document: ParsedDocument, positionAt: (offset: number) => Position): Locate {
  let outline: DocumentOutline | null | undefined;
  return (pointer, at = "value") => {
    if (outline === undefined) outline = document.outline();
    return positionAt(offsetOf(outline, pointer, at) ?? document.offset);
  };
}

// A missing field is named by its parent's key, a wrong value by itself; the document by its beginning.
function offsetOf(outline: DocumentOutline | null, pointer: string, at: "key" | "value"): number | null {
  let place: DocumentOutline | undefined;
  let inside = outline?.inside;
  for (const token of pointerTokens(pointer)) {
    const next = inside?.get(token);
    if (next === undefined) return place?.key ?? null;
    place = next;
    inside = next.inside;
  }
  return place?.[at] ?? null;
}
