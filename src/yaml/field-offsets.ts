import type { YamlLimits } from "./limits.ts";

/** The offsets of a value and its children in a file's text: plain data, linear in the size of the document. */
export type FieldOffsets = {
  /** Offset of its key; for an item of a list, of the item. */
  readonly key: number;
  readonly value: number;
  /** Fields by name, items by index; null when it has no children. */
  readonly inside: ReadonlyMap<string, FieldOffsets> | null;
};

/** The offsets of at most so many fields and levels; the deepest levels are dropped first. */
export function limitFieldOffsets(offsets: FieldOffsets, limits: YamlLimits): FieldOffsets {
  let [count, depth, level] = [1, 0, [offsets]];
  while (level.length > 0) {
    level = level.flatMap(({ inside }) => (inside === null ? [] : [...inside.values()]));
    count += level.length;
    if (count > limits.nodes || (depth === limits.depth && level.length > 0)) return cut(offsets, depth);
    depth++;
  }
  return offsets;
}

function cut(offsets: FieldOffsets, depth: number): FieldOffsets {
  if (depth === 0 || offsets.inside === null) return { ...offsets, inside: null };
  return { ...offsets, inside: new Map([...offsets.inside].map(([name, place]) => [name, cut(place, depth - 1)])) };
}
