import type { Json, JsonObject } from "../../../contract/json.ts";

/**
 * The keys of a mapping in their order, as a path from none to all of them. Manifests are much alike: what key followed
 * last time is a good guess at what follows now, and that all of them differ is known without comparing them again.
 */
export type Shape = {
  /** The last of the keys. */
  readonly key: string;
  readonly before: Shape | null;
  readonly size: number;
  /** What followed last, where its key needs no quotes. */
  guess: Shape | null;
  /** The first key of the last mapping under this key, where it needs no quotes. */
  inside: Shape | null;
  /** Everything that followed, by key. */
  next: Map<string, Shape> | null;
  /** What objects of this shape are made by. */
  mould: Mould | null;
};

type Mould = { readonly keys: readonly string[]; readonly object: JsonObject | null };

/** Shapes that are remembered at a time; then all are forgotten, since what comes next may well be other ones. */
const MOST_SHAPES = 8192;

/** Mappings of more keys are none that people write by hand. */
const MOST_KEYS = 256;

/** An object of more fields becomes a dictionary when they are set one by one, and takes four times the room. */
const WIDE = 12;

let remembered = 0;

/** A mapping before its first key. */
export const noKeys: Shape = after(null, "");

function after(before: Shape | null, key: string): Shape {
  const size = before === null ? 0 : before.size + 1;
  return { key, before, size, guess: null, inside: null, next: null, mould: null };
}

/** The shape with one more key; null where the key is there already, or one too many. */
export function withKey(shape: Shape, key: string): Shape | null {
  const known = shape.next?.get(key);
  if (known !== undefined) return known;
  if (shape.size >= MOST_KEYS || hasKey(shape, key)) return null;
  if (remembered === MOST_SHAPES) forget();
  return remember(shape, after(shape, key));
}

function remember(shape: Shape, next: Shape): Shape {
  remembered++;
  shape.next ??= new Map();
  shape.next.set(next.key, next);
  return next;
}

// What a document still uses goes with it.
function forget(): void {
  remembered = 0;
  noKeys.inside = null;
  noKeys.next = null;
}

function hasKey(shape: Shape, key: string): boolean {
  for (let each: Shape | null = shape; each !== null; each = each.before) {
    if (each.key === key && each.size > 0) return true;
  }
  return false;
}

/** An object of a shape, with the values from the given place on. */
export function objectOf(shape: Shape, values: readonly Json[], from: number): JsonObject {
  shape.mould ??= mouldOf(shape);
  const { keys, object } = shape.mould;
  const fields: Record<string, Json> = object === null ? {} : { ...object };
  for (let nth = 0; nth < keys.length; nth++) fields[keys[nth] ?? ""] = values[from + nth] ?? null;
  return fields;
}

function mouldOf(shape: Shape): Mould {
  const keys: string[] = [];
  for (let each: Shape | null = shape; each !== null && each.size > 0; each = each.before) keys.push(each.key);
  keys.reverse();
  if (shape.size <= WIDE) return { keys, object: null };
  // What JSON.parse makes is no dictionary, and no copy of it is one.
  return { keys, object: JSON.parse(`{${keys.map((key) => `${JSON.stringify(key)}:null`).join()}}`) as JsonObject };
}
