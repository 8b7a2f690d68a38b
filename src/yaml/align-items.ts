import { equal, isObject, type Json } from "../contract/json.ts";

/** An item of a list before and after a change, by its indexes; null where there is none. */
export type AlignedItem = { readonly was: number | null; readonly is: number | null };

/** With more pairs than this, items are paired by their places. */
const MAX_PAIRS = 40_000;

/** The items of two lists side by side, in order, so that as many as possible are the same or similar. */
export function alignItems(before: readonly Json[], after: readonly Json[]): readonly AlignedItem[] {
  const [rows, columns] = [before.length, after.length];
  if (rows * columns > MAX_PAIRS) return byPlace(rows, columns);
  const likeness = before.map((was) => after.map((is) => likenessOf(was, is)));
  // best[i][j]: the likeness of what follows the first i and j items.
  const best = Array.from({ length: rows + 1 }, () => new Array<number>(columns + 1).fill(0));
  const at = (i: number, j: number): number => best[i]?.[j] ?? 0;
  const pair = (i: number, j: number): number => (likeness[i]?.[j] ?? 0) + at(i + 1, j + 1);
  for (let i = rows - 1; i >= 0; i--) {
    for (let j = columns - 1; j >= 0; j--) {
      const row = best[i];
      if (row !== undefined) row[j] = Math.max(pair(i, j), at(i + 1, j), at(i, j + 1));
    }
  }
  const aligned: AlignedItem[] = [];
  let [i, j] = [0, 0];
  while (i < rows || j < columns) {
    if (i < rows && j < columns && at(i, j) === pair(i, j)) aligned.push({ was: i++, is: j++ });
    else if (i < rows && (j === columns || at(i, j) === at(i + 1, j))) aligned.push({ was: i++, is: null });
    else aligned.push({ was: null, is: j++ });
  }
  return aligned;
}

function byPlace(rows: number, columns: number): readonly AlignedItem[] {
  return Array.from({ length: Math.max(rows, columns) }, (_, at) => ({
    was: at < rows ? at : null,
    is: at < columns ? at : null,
  }));
}

const SAME = 1000;

// Two items that differ are rather changed into each other than removed and added.
function likenessOf(was: Json, is: Json): number {
  if (equal(was, is)) return SAME;
  if (!isObject(was) || !isObject(is)) return 1;
  return 1 + Object.keys(was).filter((name) => Object.hasOwn(is, name) && equal(was[name], is[name])).length;
}
