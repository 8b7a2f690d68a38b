/** One part of a pattern for strings with slashes, such as paths and identities. */
export type PatternPart =
  | { readonly is: "character"; readonly character: string }
  /** Any one character except a slash. */
  | { readonly is: "one" }
  /** One character of a class, except a slash. */
  | { readonly is: "class"; readonly has: (character: string) => boolean }
  /** Any number of characters except slashes. */
  | { readonly is: "some" }
  /** Any number of characters. */
  | { readonly is: "all" }
  /** Any number of folders, each with its slash. Only at the beginning or after a slash. */
  | { readonly is: "folders" };

/** Whether a whole string matches. */
export type Matcher = (text: string) => boolean;

/**
 * Compiles a pattern into a matcher whose time grows with the length of the text, never with the number of ways to
 * match it, because patterns come from repositories. It is a bit-parallel NFA with one bit per place in the pattern.
 */
export function matcherOf(parts: readonly PatternPart[]): Matcher {
  const prefix = literalOf(parts);
  if (prefix.length === parts.length) return (text) => text === prefix;
  const rest = parts.slice(prefix.length);
  const suffix = literalOf(rest.toReversed()).split("").toReversed().join("");
  const isFramed: Matcher = (text) =>
    text.length >= prefix.length + suffix.length && text.startsWith(prefix) && text.endsWith(suffix);
  // Fast path: most patterns are a literal, a prefix or a suffix.
  const [middle, ...more] = rest.slice(0, rest.length - suffix.length);
  if (more.length === 0 && middle?.is === "all") return isFramed;
  if (more.length === 0 && middle?.is === "some") {
    return (text) => isFramed(text) && !text.slice(prefix.length, text.length - suffix.length).includes("/");
  }
  let automaton: Automaton | null = null;
  return (text) => {
    if (!isFramed(text)) return false;
    automaton ??= compile(rest);
    return accepts(automaton, text, prefix.length);
  };
}

/** The literal prefix of a pattern. */
function literalOf(parts: readonly PatternPart[]): string {
  const end = parts.findIndex(({ is }) => is !== "character");
  const literal = end === -1 ? parts : parts.slice(0, end);
  return literal.map((part) => (part.is === "character" ? part.character : "")).join("");
}

type Run = Extract<PatternPart, { is: "some" | "all" }>;

/** A state of the automaton: the run of characters that it may skip, and the part that leads on (null at the end). */
type Place = { readonly run: Run["is"] | null; readonly next: Exclude<PatternPart, Run> | null };

// `**/**/` is equivalent to `**/`, and `****` to `**`.
function placesOf(parts: readonly PatternPart[]): readonly Place[] {
  const places: Place[] = [];
  let run: Place["run"] = null;
  for (const part of parts) {
    if (part.is === "some" || part.is === "all") run = run === "all" ? run : part.is;
    else if (part.is !== "folders" || (run !== "all" && places.at(-1)?.next?.is !== "folders")) {
      places.push({ run, next: part });
      run = null;
    }
  }
  return [...places, { run, next: null }];
}

/** A set of places, one bit each. */
type Bits = Uint32Array;

type Automaton = {
  readonly end: number;
  /**
   * The places from which a character advances, by ASCII code, and for other characters; `unnamed` is for characters
   * that the pattern does not name.
   */
  readonly ascii: readonly Bits[];
  readonly beyond: ReadonlyMap<number, Bits>;
  readonly unnamed: Bits;
  /** Checked one by one, for each character of the text. */
  readonly classes: readonly { readonly place: number; readonly has: (character: string) => boolean }[];
  /** The places at which a slash, and any other character, may be skipped. */
  readonly slashRuns: Bits;
  readonly otherRuns: Bits;
  /** The places that may be passed without reading a character. */
  readonly folders: Bits;
};

const SLASH = "/".charCodeAt(0);

function compile(parts: readonly PatternPart[]): Automaton {
  const places = placesOf(parts);
  const bitsWhere = (isSo: (place: Place) => boolean): Bits => {
    const bits = new Uint32Array(Math.ceil(places.length / 32));
    for (const [index, place] of places.entries()) if (isSo(place)) setBit(bits, index);
    return bits;
  };
  const isFolders = ({ next }: Place): boolean => next?.is === "folders";
  const names = new Set(places.flatMap(({ next }) => (next?.is === "character" ? [next.character] : []))).add("/");
  const named = new Map(
    Array.from(names, (name) => [name.charCodeAt(0), bitsWhere(({ next }) => reads(next, name))] as const),
  );
  const unnamed = bitsWhere(({ next }) => next?.is === "one");
  return {
    end: places.length - 1,
    ascii: Array.from({ length: 128 }, (_, code) => named.get(code) ?? unnamed),
    beyond: named,
    unnamed,
    classes: places.flatMap(({ next }, place) => (next?.is === "class" ? [{ place, has: next.has }] : [])),
    slashRuns: bitsWhere((place) => place.run === "all" || isFolders(place)),
    otherRuns: bitsWhere((place) => place.run !== null || isFolders(place)),
    folders: bitsWhere(isFolders),
  };
}

function reads(next: Place["next"], character: string): boolean {
  switch (next?.is) {
    case "character":
      return next.character === character;
    case "one":
      return character !== "/";
    case "folders":
      return character === "/";
    default:
      return false;
  }
}

function accepts(automaton: Automaton, text: string, from: number): boolean {
  const { end, ascii, beyond, unnamed, classes, slashRuns, otherRuns, folders } = automaton;
  let at = new Uint32Array(folders.length);
  let next = new Uint32Array(folders.length);
  at[0] = 1 | (((folders[0] ?? 0) & 1) << 1);
  for (let index = from; index < text.length; index++) {
    const code = text.charCodeAt(index);
    const leading = (code < 128 ? ascii[code] : beyond.get(code)) ?? unnamed;
    const runs = code === SLASH ? slashRuns : otherRuns;
    let carried = 0;
    let skipped = 0;
    let alive = 0;
    for (let word = 0; word < at.length; word++) {
      const here = at[word] ?? 0;
      const moved = here & (leading[word] ?? 0);
      const entered = (moved << 1) | carried;
      const left = entered & (folders[word] ?? 0);
      const reached = entered | (left << 1) | skipped | (here & (runs[word] ?? 0));
      carried = moved >>> 31;
      skipped = left >>> 31;
      next[word] = reached;
      alive |= reached;
    }
    for (const { place, has } of code === SLASH ? NO_CLASSES : classes) {
      if (!hasBit(at, place) || !has(text.charAt(index))) continue;
      setBit(next, place + 1);
      alive = 1;
    }
    if (alive === 0) return false;
    const before = at;
    at = next;
    next = before;
  }
  return hasBit(at, end);
}

const NO_CLASSES: Automaton["classes"] = [];

function setBit(bits: Bits, place: number): void {
  bits[place >>> 5] = (bits[place >>> 5] ?? 0) | (1 << (place & 31));
}

function hasBit(bits: Bits, place: number): boolean {
  return (((bits[place >>> 5] ?? 0) >>> (place & 31)) & 1) === 1;
}
