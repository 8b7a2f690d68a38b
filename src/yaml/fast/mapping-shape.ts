import type { Json, JsonObject } from "../../contract/json.ts";

/**
 * The keys of a mapping in order, as a path in a tree that starts with no keys (like a hidden class). Manifests are
 * similar: the previous successor of a key is a good guess, and duplicates are checked once per shape.
 */
export type MappingShape = {
  /** The last key. */
  readonly key: string;
  readonly before: MappingShape | null;
  readonly size: number;
  /** The previous successor, if its key needs no quotes. */
  guess: MappingShape | null;
  /** The first key of the previous mapping under this key, if it needs no quotes. */
  inside: MappingShape | null;
  /** All successors, by key. */
  next: Map<string, MappingShape> | null;
  /** All keys, once an object has shown that they are distinct. */
  keys: readonly string[] | null;
  /** The template that further objects are copied from, for wide shapes. */
  template: JsonObject | null;
};

/** Maximum number of stored shapes. When it is reached all are dropped, since later files may have other shapes. */
const MAX_SHAPES = 8192;

/** Mappings with more keys are not written by hand. */
const MAX_KEYS = 256;

/**
 * An object with more fields becomes a V8 dictionary when they are set one by one, which takes four times the memory.
 */
const WIDE = 12;

let remembered = 0;

/** A mapping before its first key. */
export const noKeys: MappingShape = after(null, "");

function after(before: MappingShape | null, key: string): MappingShape {
  const size = before === null ? 0 : before.size + 1;
  return { key, before, size, guess: null, inside: null, next: null, keys: null, template: null };
}

/** The shape with one more key; null when it would have too many. */
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

// Shapes still used by a document are released with it.
function forget(): void {
  remembered = 0;
  noKeys.inside = null;
  noKeys.next = null;
}

/** Builds an object of a shape from the values starting at `from`; null when a key is a duplicate. */
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

/** The keys of a shape, in order. */
export function keysOf(shape: MappingShape): readonly string[] {
  const keys: string[] = [];
  for (let each: MappingShape | null = shape; each !== null && each.size > 0; each = each.before) keys.push(each.key);
  return keys.reverse();
}

// V8 does not use a dictionary for an object from JSON.parse, or for a copy of it.
function templateOf(keys: readonly string[]): JsonObject {
  return JSON.parse(`{${keys.map((key) => `${JSON.stringify(key)}:null`).join()}}`) as JsonObject;
}
