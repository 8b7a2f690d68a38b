// src/yaml/fast: the reader of what manifests usually are. See docs/manifests.md#two-parsers.

import type { Json, JsonObject } from "../../contract/json.ts";
import { duplicateKey } from "../fault.ts";
import { keysOf, type MappingShape, objectOf } from "./mapping-shape.ts";
import { noteFault, type ParserState } from "./parser-state.ts";

/** Builds the mapping of a shape from the values starting at `from`; undefined when a duplicate key ends the read. */
export function mappingOf(state: ParserState, shape: MappingShape, from: number): JsonObject | undefined {
  const { values, faults } = state;
  const fields = objectOf(shape, values, from);
  if (fields !== null) return fields;
  state.isFaulty = true;
  return faults === null ? undefined : firstOfEach(shape, values, from);
}

function firstOfEach(shape: MappingShape, values: readonly Json[], from: number): JsonObject {
  const fields: Record<string, Json> = {};
  for (const [nth, key] of keysOf(shape).entries()) {
    if (!Object.hasOwn(fields, key)) fields[key] = values[from + nth] ?? null;
  }
  return fields;
}

/** Records a fault if the last key of a mapping is a duplicate; the mapping's values start at `from`. */
export function noteDuplicateKey(state: ParserState, from: number, shape: MappingShape): void {
  const { places, open } = state;
  if (places === null) return;
  let first: MappingShape | null = null;
  for (let each = shape.before; each !== null && each.size > 0; each = each.before) {
    if (each.key === shape.key) first = each;
  }
  const [before, again] = [first && places[from + first.size - 1], places[open - 1]];
  if (before && again) noteFault(state, () => duplicateKey(shape.key, again.key, before.key));
}
