import { equal, isObject, type Json, type JsonObject, own } from "../../contract/json.ts";
import type { Shape } from "../../contract/manifest-shape.ts";
import { oncePer } from "../../model/once.ts";

type Known = Extract<Shape, { is: "object" }>;
type Free = Extract<Shape, { is: "free" }>;

const FREE: Free = { is: "free" };

/**
 * Whether a manifest with its schema's defaults is certainly equal to live, in one walk over both and without building
 * normal forms. False means that the normal forms must be compared.
 */
export function fastEqual(shape: Shape, desired: Json | undefined, live: Json | undefined): boolean {
  // An empty value may normalise to nothing, which gets no defaults; the normal forms decide.
  if (isEmpty(desired)) return false;
  if (shape.is === "object" && isObject(desired) && isObject(live)) return equalObjects(shape, desired, live);
  if (shape.is === "list" && Array.isArray(desired) && Array.isArray(live)) return equalLists(shape, desired, live);
  if (shape.is === "free" && isObject(desired) && isObject(live)) return equalFree(shape, desired, live);
  // An object where the schema expects a scalar may also normalise to nothing.
  return !(isObject(desired) && shape.is !== "free") && equal(desired, live);
}

function equalObjects(shape: Known, desired: JsonObject, live: JsonObject): boolean {
  for (const name of Object.keys(live)) {
    if (!equalFields(shape, name, own(desired, name), live[name])) return false;
  }
  for (const name of Object.keys(desired)) {
    if (!Object.hasOwn(live, name)) return false;
  }
  return defaultsOf(shape).every((name) => Object.hasOwn(live, name));
}

function equalFields({ fields }: Known, name: string, desired: Json | undefined, live: Json | undefined): boolean {
  const shape = Object.hasOwn(fields, name) ? fields[name] : undefined;
  const given = desired === undefined ? shape?.default : desired;
  if (given === undefined) return live === null || live === undefined;
  return fastEqual(shape ?? FREE, given, live);
}

// The same items in the same order are equal, whether or not the list is ordered.
function equalLists({ items }: { readonly items: Shape }, desired: readonly Json[], live: readonly Json[]): boolean {
  return desired.length === live.length && desired.every((item, index) => fastEqual(items, item, live[index]));
}

function equalFree({ asText }: Free, desired: JsonObject, live: JsonObject): boolean {
  if (!asText) return equal(desired, live);
  const names = Object.keys(desired);
  return (
    names.length === Object.keys(live).length && names.every((name) => equalTexts(own(desired, name), own(live, name)))
  );
}

function equalTexts(desired: Json | undefined, live: Json | undefined): boolean {
  if (isEmpty(desired) || isEmpty(live)) return false;
  return typeof desired === "object" || typeof live === "object"
    ? equal(desired, live)
    : String(desired) === String(live);
}

function isEmpty(value: Json | undefined): boolean {
  if (typeof value !== "object" || value === null) return value === undefined || value === null;
  for (const _ in value) return false;
  return true;
}

/** The fields with a default in the schema. */
const defaultsOf = oncePer((shape: Known): readonly string[] =>
  Object.entries(shape.fields).flatMap(([name, field]) => (field.default === undefined ? [] : [name])),
);
