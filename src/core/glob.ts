/** A pattern over identities or paths: `*` within one segment, `**` across segments, `?` one character. */
export type Glob = string;

type Part =
  | { readonly is: "character"; readonly character: string }
  /** Any one character but a slash. */
  | { readonly is: "one" }
  /** Any number of characters but slashes. */
  | { readonly is: "some" }
  | { readonly is: "all" }
  /** The next parts, as many as `count`, may be left out. */
  | { readonly is: "maybe"; readonly count: number };

/**
 * Whether the whole text matches the glob. All ways through the pattern are followed at once, so that no pattern takes
 * longer than its length times that of the text: patterns come from repositories.
 */
export function globMatches(glob: Glob, text: string): boolean {
  const parts = compile(glob);
  let at = reached(parts, [0]);
  for (const character of text.split("")) {
    if (at.size === 0) return false;
    at = reached(
      parts,
      [...at].flatMap((index) => follow(parts[index], index, character)),
    );
  }
  return at.has(parts.length);
}

/** Everything that is reached from these places without a further character. */
function reached(parts: readonly Part[], from: readonly number[]): ReadonlySet<number> {
  const found = new Set(from);
  // A set may grow while it is walked, and the walk sees what was added.
  for (const index of found) {
    const part = parts[index];
    if (part?.is === "some" || part?.is === "all") found.add(index + 1);
    if (part?.is === "maybe") found.add(index + 1).add(index + 1 + part.count);
  }
  return found;
}

function follow(part: Part | undefined, index: number, character: string): readonly number[] {
  switch (part?.is) {
    case "character":
      return part.character === character ? [index + 1] : [];
    case "one":
      return character === "/" ? [] : [index + 1];
    case "some":
      return character === "/" ? [] : [index];
    case "all":
      return [index];
    default:
      return [];
  }
}

const compiled = new Map<Glob, readonly Part[]>();

function compile(glob: Glob): readonly Part[] {
  const known = compiled.get(glob);
  if (known !== undefined) return known;
  const parts = (glob.match(/\*\*\/?|./gs) ?? []).flatMap(partsOf);
  compiled.set(glob, parts);
  return parts;
}

function partsOf(piece: string): readonly Part[] {
  switch (piece) {
    case "**/":
      return [{ is: "maybe", count: 2 }, { is: "all" }, { is: "character", character: "/" }];
    case "**":
      return [{ is: "all" }];
    case "*":
      return [{ is: "some" }];
    case "?":
      return [{ is: "one" }];
    default:
      return [{ is: "character", character: piece }];
  }
}
