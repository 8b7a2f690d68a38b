const MAX_LENGTH = 64;

/** The candidate that a misspelt name most likely means; undefined when none is similar. */
export function closestName(name: string, candidates: readonly string[]): string | undefined {
  if (name.length > MAX_LENGTH) return undefined;
  const bare = plain(name);
  const same = candidates.find((candidate) => plain(candidate) === bare);
  if (same !== undefined) return same;
  const allowed = Math.min(2, Math.floor(Math.max(bare.length, 3) / 3));
  const near = candidates
    .map((candidate) => ({ candidate, distance: editDistance(bare, plain(candidate), allowed) }))
    .filter(({ distance }) => distance <= allowed)
    .toSorted((a, b) => a.distance - b.distance);
  return near[0]?.candidate;
}

/** The next step after a name that no kind has: the kind that it most likely means, or else all of them. */
export function kindHint(name: string, kinds: readonly string[]): string {
  const near = closestName(name, kinds);
  return near === undefined ? `the kinds are ${kinds.join(", ")}` : `did you mean ${near}?`;
}

// `workspaceFqn` and `workspace-fqn` are common mistakes for `workspace_fqn`.
function plain(name: string): string {
  return name.replaceAll(/[-_\s]/g, "").toLowerCase();
}

/** Damerau–Levenshtein distance of two texts; `limit + 1` when it is larger than the limit. */
export function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  // Typed arrays are reused: every unknown field of every file is compared with every known field.
  let before = new Uint16Array(b.length + 1);
  let last = Uint16Array.from({ length: b.length + 1 }, (_, column) => column);
  let next = new Uint16Array(b.length + 1);
  for (let row = 1; row <= a.length; row += 1) {
    next[0] = row;
    let least = row;
    for (let column = 1; column <= b.length; column += 1) {
      const distance = Math.min(
        at(last, column) + 1,
        at(next, column - 1) + 1,
        at(last, column - 1) + (a.charCodeAt(row - 1) === b.charCodeAt(column - 1) ? 0 : 1),
        isSwapped(a, row, b, column) ? at(before, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
      least = Math.min(least, distance);
      next[column] = distance;
    }
    // No later row can have a smaller distance than the two rows before it.
    if (least > limit + 1) return limit + 1;
    [before, last, next] = [last, next, before];
  }
  return Math.min(at(last, b.length), limit + 1);
}

function isSwapped(a: string, row: number, b: string, column: number): boolean {
  if (row < 2 || column < 2) return false;
  return a.charCodeAt(row - 1) === b.charCodeAt(column - 2) && a.charCodeAt(row - 2) === b.charCodeAt(column - 1);
}

function at(row: Uint16Array, column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
