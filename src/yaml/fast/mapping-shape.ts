import type { Json, JsonObject } from "../../contract/json.ts";

/**
 * The keys of a mapping in their order, as a path from none to all of them. Manifests are much alike: what key followed
 * last time is a good guess at what follows now, and that all of them differ is seen once.
 */
export type MappingShape = {
  /** The last of the keys. */
  readonly key: string;
  readonly before: MappingShape | null;
  readonly size: number;
  /** What followed last, where its key needs no quotes. */
  guess: MappingShape | null;
  /** The first key of the last mapping under this key, where it needs no quotes. */
  inside: MappingShape | null;
  /** Everything that followed, by key. */
  next: Map<string, MappingShape> | null;
  /** All of its keys, once an object has shown that they differ. */
  keys: readonly string[] | null;
  /** What further objects are copies of, where they are wide. */
  template: JsonObject | null;
};

/** Shapes that are remembered at a time; then all are forgotten, since what comes next may well be other ones. */
const MAX_SHAPES = 8192;

/** Mappings of more keys are none that people write by hand. */
const MAX_KEYS = 256;

/** An object of more fields becomes a dictionary when they are set one by one, and takes four times the room. */
const WIDE = 12;

let remembered = 0;

/** A mapping before its first key. */
export const noKeys: MappingShape = after(null, "");

function after(before: MappingShape | null, key: string): MappingShape {
  const size = before === null ? 0 : before.size + 1;
  return { key, before, size, guess: null, inside: null, next: null, keys: null, template: null };
}

/** The shape with one more key; null where that is one too many. */
export function withKey(shape: MappingShape, key: string): MappingShape | null {
  const known = shape.next?.get(key);
  if (known !== undefined) return known;
  if (shape.size >= MAX_KEYS) return null;
  if (remembered === MAX_SHAPES) forget();
  return remember(shape, after(shape, key));
}

function remember(shape: MappingShape, next: MappingShape): MappingShape {
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

/** An object of a shape, with the values from the given place on; null where a key is there twice. */
export function objectOf(shape: MappingShape, values: readonly Json[], from: number): JsonObject | null {
  const { keys } = shape;
  if (keys === null) return firstOf(shape, values, from);
  if (shape.size > WIDE) shape.template ??= templateOf(keys);
  const fields: Record<string, Json> = shape.template === null ? {} : { ...shape.template };
  for (let nth = 0; nth < keys.length; nth++) fields[keys[nth] ?? ""] = values[from + nth] ?? null;
  return fields;
}

function firstOf(shape: MappingShape, values: readonly Json[], from: number): JsonObject | null {
  const keys = keysOf(shape);
  const fields: Record<string, Json> = {};
  for (const [nth, key] of keys.entries()) {
    if (Object.hasOwn(fields, key)) return null;
    fields[key] = values[from + nth] ?? null;
  }
  shape.keys = keys;
  return fields;
}

/** The keys of a shape, in their order. */
export function keysOf(shape: MappingShape): readonly string[] {
  const keys: string[] = [];
  for (let each: MappingShape | null = shape; each !== null && each.size > 0; each = each.before) keys.push(each.key);
  return keys.reverse();
}

// What JSON.parse makes is no dictionary, and no copy of it is one.
function templateOf(keys: readonly string[]): JsonObject {
  return JSON.parse(`{${keys.map((key) => `${JSON.stringify(key)}:null`).join()}}`) as JsonObject;
}
