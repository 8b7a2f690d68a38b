/** Where a value stands in a file's text and what is inside it: plain data, linear in the size of the document. */
export type DocumentOutline = {
  /** Offset of its key; for an item of a list, of the item. */
  readonly key: number;
  readonly value: number;
  /** Fields by name, items by number; null where nothing is inside. */
  readonly inside: ReadonlyMap<string, DocumentOutline> | null;
};

/** An outline of at most so many places: the deepest levels go first. */
export function limitOutline(outline: DocumentOutline, most: number): DocumentOutline {
  let [count, depth, level] = [1, 0, [outline]];
  while (level.length > 0) {
    level = level.flatMap(({ inside }) => (inside === null ? [] : [...inside.values()]));
    count += level.length;
    if (count > most) return cut(outline, depth);
    depth++;
  }
  return outline;
}

function cut(outline: DocumentOutline, depth: number): DocumentOutline {
  if (depth === 0 || outline.inside === null) return { ...outline, inside: null };
  return { ...outline, inside: new Map([...outline.inside].map(([name, place]) => [name, cut(place, depth - 1)])) };
}
