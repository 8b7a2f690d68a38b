/** `1 file`, `2 files`: a number with its noun. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

/** Joins the non-empty parts with a separator. */
function joined(parts: readonly string[], separator: string): string {
  return parts.filter((part) => part !== "").join(separator);
}

/** `3 to create` for each count that is not zero. */
export function joinCounts(counts: readonly (readonly [number, string])[]): string {
  return joined(
    counts.map(([number, what]) => (number === 0 ? "" : `${number} ${what}`)),
    ", ",
  );
}
