import { isObject, type Json, type JsonObject } from "../contract/json.ts";
import { fieldAt, type SchemaNode } from "./schema-node.ts";
import { schemaFor } from "./schemas.ts";

/** A manifest in canonical order: fields of the schema in its order, then others; what is free keeps its order. */
export function inFieldOrder(type: string, manifest: JsonObject): JsonObject {
  const schema = schemaFor(type);
  return schema === undefined ? manifest : orderedFields(schema, manifest, manifest, []);
}

function orderedFields(schema: SchemaNode, root: Json, value: JsonObject, tokens: readonly string[]): JsonObject {
  const names = fieldAt(schema, root, tokens).names;
  const fields = sortFields(Object.entries(value), ([name]) => name, names);
  return Object.fromEntries(
    fields.map(([name, field = null]) => [name, ordered(schema, root, field, [...tokens, name])]),
  );
}

function ordered(schema: SchemaNode, root: Json, value: Json, tokens: readonly string[]): Json {
  if (Array.isArray(value)) return value.map((item, at) => ordered(schema, root, item, [...tokens, String(at)]));
  return isObject(value) ? orderedFields(schema, root, value, tokens) : value;
}

/** Fields in the order of the names at their place (`names` of `fieldAt`); those without a name there come last. */
export function sortFields<One>(
  fields: readonly One[],
  nameOf: (field: One) => string,
  names: readonly string[],
): readonly One[] {
  const places = new Map(names.map((name, at) => [name, at]));
  const place = (field: One): number => places.get(nameOf(field)) ?? names.length;
  return fields.toSorted((a, b) => place(a) - place(b));
}
