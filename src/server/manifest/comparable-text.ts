import { canonical, isObject, type Json, type JsonObject } from "../../contract/json.ts";
import type { Shape } from "../../contract/shape.ts";

// All other fields are the content of a version.
const mutableFields: readonly string[] = ["version", "description", "metadata", "version_alias"];

/** The content of a version: its manifest without the fields that may change in place, as canonical text. */
export function versionContent(shape: Shape, manifest: JsonObject): string {
  const fields = Object.entries(manifest).filter(([name]) => !mutableFields.includes(name));
  return comparableText(shape, Object.fromEntries(fields));
}

/** Canonical text of a value: equal for values with the same meaning (null is absent, sets have no order). */
export function comparableText(shape: Shape, value: Json): string {
  return canonical(normal(shape, value));
}

function normal(shape: Shape, value: Json): Json {
  switch (shape.is) {
    case "object":
      return isObject(value) ? normalObject(shape.fields, value) : value;
    case "list":
      return Array.isArray(value) ? normalList(shape, value) : value;
    case "free":
      return shape.asText === true && isObject(value) ? valuesAsText(value) : value;
    case "value":
      return value;
  }
}

function normalObject(fields: { readonly [name: string]: Shape }, value: JsonObject): JsonObject {
  const present = Object.entries(value).filter(([, field]) => field !== null);
  return Object.fromEntries(
    present.map(([name, field]) => {
      const shape = Object.hasOwn(fields, name) ? fields[name] : undefined;
      return [name, shape === undefined ? field : normal(shape, field)];
    }),
  );
}

function normalList(shape: Shape & { readonly is: "list" }, value: readonly Json[]): Json {
  const items = value.map((item) => normal(shape.items, item));
  return shape.key === undefined ? items : items.toSorted((a, b) => (canonical(a) < canonical(b) ? -1 : 1));
}

function valuesAsText(value: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      typeof item === "number" || typeof item === "boolean" ? String(item) : item,
    ]),
  );
}
