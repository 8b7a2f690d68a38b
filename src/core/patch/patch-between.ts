import { equal, isObject, type Json, type JsonObject, own } from "../../contract/json.ts";
import type { Shape } from "../../contract/manifest-shape.ts";
import { fieldShape, itemToken } from "../../model/normal-form.ts";
import { mergePatch } from "./merge-patch.ts";
import { UNPATCHED } from "./origin.ts";

type List = Extract<Shape, { is: "list" }>;
type Keyed = List & { readonly key: readonly string[] };

/** The smallest merge patch that makes `after` of `before`. */
export function patchBetween(shape: Shape, before: JsonObject, after: JsonObject): JsonObject {
  const changed = Object.entries(after).flatMap(([name, value]): readonly (readonly [string, Json])[] => {
    const was = own(before, name);
    return equal(was, value) ? [] : [[name, valuePatch(fieldShape(shape, name), was, value)]];
  });
  const removed = Object.keys(before).filter((name) => !Object.hasOwn(after, name));
  return Object.fromEntries([...changed, ...removed.map((name) => [name, null] as const)]);
}

function valuePatch(shape: Shape, before: Json | undefined, after: Json): Json {
  if (isObject(before) && isObject(after)) return patchBetween(shape, before, after);
  if (!Array.isArray(after) || !isKeyed(shape)) return after;
  const [was, is]: readonly (readonly Json[])[] = [Array.isArray(before) ? before : [], after];
  return (was !== undefined && is !== undefined && itemsPatch(shape, was, is)) || { $replace: after };
}

function isKeyed(shape: Shape): shape is Keyed {
  return shape.is === "list" && shape.key !== undefined && shape.key.length > 0;
}

// Null where items cannot be told apart, or stand in another order than a patch leaves them in.
function itemsPatch(shape: Keyed, before: readonly Json[], after: readonly Json[]): readonly Json[] | null {
  if (![...before, ...after].every((item) => isObject(item))) return null;
  const [was, is] = [byToken(shape, before), byToken(shape, after)];
  if (was.size < before.length || is.size < after.length) return null;
  const changed = [...is].flatMap(([token, item]): readonly Json[] => {
    const earlier = was.get(token);
    if (earlier === undefined) return [item];
    return equal(earlier, item) ? [] : [{ ...keyOf(shape, item), ...patchBetween(shape.items, earlier, item) }];
  });
  const removed = [...was]
    .filter(([token]) => !is.has(token))
    .map(([, item]) => ({ ...keyOf(shape, item), $delete: true }));
  const patch = [...changed, ...removed];
  return equal(patched(shape, before, patch), after) ? patch : null;
}

function byToken(shape: Keyed, items: readonly Json[]): ReadonlyMap<string, JsonObject> {
  return new Map(items.flatMap((item, at) => (isObject(item) ? [[itemToken(shape, item, at), item] as const] : [])));
}

function keyOf({ key }: Keyed, item: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(item).filter(([name]) => key.includes(name)));
}

function patched(shape: Shape, before: Json | undefined, patch: Json): Json | undefined {
  const start = before === undefined ? {} : { value: before };
  const list: Shape = { is: "object", fields: { value: shape } };
  return mergePatch(list, { value: start, origin: UNPATCHED }, { value: { value: patch }, from: 1, pointer: "" }).value
    .value;
}

/** One merge patch that does what `first` and then `second` do. */
export function combinedPatch(shape: Shape, first: JsonObject, second: JsonObject): JsonObject {
  const combined = Object.entries(second).map(([name, value]) => {
    return [name, combinedValue(fieldShape(shape, name), own(first, name), value)] as const;
  });
  return { ...first, ...Object.fromEntries(combined) };
}

function combinedValue(shape: Shape, first: Json | undefined, second: Json): Json {
  if (first === undefined || first === null) return second;
  if (isKeyed(shape) && Array.isArray(second)) return combinedItems(shape, first, second);
  if (!isObject(first) || !isObject(second) || isReplacement(first) || isReplacement(second)) return second;
  return combinedPatch(shape, first, second);
}

function isReplacement(value: JsonObject): boolean {
  return Object.hasOwn(value, "$replace");
}

function combinedItems(shape: Keyed, first: Json, second: readonly Json[]): Json {
  if (isObject(first)) return { $replace: patched(shape, own(first, "$replace"), second) ?? [] };
  if (!Array.isArray(first)) return second;
  const [was, is] = [byToken(shape, first), byToken(shape, second)];
  const kept = [...was].map(([token, item]) => {
    const next = is.get(token);
    if (next === undefined) return item;
    return Object.hasOwn(next, "$delete") || Object.hasOwn(item, "$delete")
      ? next
      : combinedPatch(shape.items, item, next);
  });
  return [...kept, ...[...is].filter(([token]) => !was.has(token)).map(([, item]) => item)];
}

/** The part of a patch whose values another one sets too, and the rest. */
export function splitPatch(
  patch: JsonObject,
  by: JsonObject,
): { readonly inside: JsonObject; readonly rest: JsonObject } {
  const inside: [string, Json][] = [];
  const rest: [string, Json][] = [];
  for (const [name, value] of Object.entries(patch)) {
    const other = own(by, name);
    if (other === undefined) rest.push([name, value]);
    else if (isObject(value) && isObject(other) && !isReplacement(value) && !isReplacement(other)) {
      const parts = splitPatch(value, other);
      if (Object.keys(parts.inside).length > 0) inside.push([name, parts.inside]);
      if (Object.keys(parts.rest).length > 0) rest.push([name, parts.rest]);
    } else inside.push([name, value]);
  }
  return { inside: Object.fromEntries(inside), rest: Object.fromEntries(rest) };
}
