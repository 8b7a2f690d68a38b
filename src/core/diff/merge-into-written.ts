import { equal, isObject, type Json, type JsonObject, own } from "../../contract/json.ts";
import type { Shape } from "../../contract/manifest-shape.ts";
import { fieldShape, itemToken, normalise } from "../../model/normal-form.ts";

/**
 * The written value, changed so that its normal form is `wanted`. Parts that already have the wanted meaning stay as
 * written, including their order and the values that normalise to nothing.
 */
export function mergeIntoWritten(shape: Shape, written: Json | undefined, wanted: Json | undefined): Json | undefined {
  return equal(normalise(shape, written), wanted) ? written : changed(shape, written, wanted);
}

function changed(shape: Shape, written: Json | undefined, wanted: Json | undefined): Json | undefined {
  if (shape.is === "list" && Array.isArray(written) && Array.isArray(wanted)) return inList(shape, written, wanted);
  return isObject(written) && isObject(wanted) ? inObject(shape, written, wanted) : wanted;
}

function inObject(shape: Shape, written: JsonObject, wanted: JsonObject): JsonObject {
  const names = [...new Set([...Object.keys(written), ...Object.keys(wanted)])];
  const fields = names.flatMap((name): [string, Json][] => {
    const [was, is] = [own(written, name), own(wanted, name)];
    // Compared inside the object: a value without meaning in one object can have meaning in another.
    const isSame = equal(normalise(shape, only(name, was)), normalise(shape, only(name, is)));
    const field = isSame ? was : changed(fieldShape(shape, name), was, is);
    return field === undefined ? [] : [[name, field]];
  });
  return Object.fromEntries(fields);
}

function only(name: string, field: Json | undefined): JsonObject {
  return field === undefined ? {} : Object.fromEntries([[name, field]]);
}

function inList(
  shape: Extract<Shape, { is: "list" }>,
  written: readonly Json[],
  wanted: readonly Json[],
): readonly Json[] {
  const left = new Map(wanted.map((item, index) => [itemToken(shape, item, index), item]));
  // Items that share a key can be distinguished only by their positions.
  if (left.size < wanted.length) return wanted;
  let place = 0;
  const kept = written.flatMap((item): readonly Json[] => {
    const normal = normalise(shape.items, item);
    if (normal === undefined) return [item];
    const token = itemToken(shape, normal, place);
    place += 1;
    const wish = left.get(token);
    left.delete(token);
    return wish === undefined ? [] : [mergeIntoWritten(shape.items, item, wish) ?? wish];
  });
  return [...kept, ...left.values()];
}
