import type { Json } from "../../../src/contract/json.ts";
import type { Schema, Schemas } from "../../../src/server/openapi/json-schema.ts";
import { openApiTypes, refName } from "./read-schema.ts";

/** A sample value for a schema, built from its examples; recursive references are left out. */
export function sampleValue(schemas: Schemas, schema: Schema, above: readonly string[] = []): Json {
  const [example] = schema.examples ?? [];
  if (example !== undefined) return example;
  if (schema.$ref !== undefined) return sampleOfNamed(schemas, refName(schema.$ref), above);
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined) return schema.default;
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return sampleOfChoice(schemas, choices, above);
  const [type] = openApiTypes(schema);
  if (type === "array") return schema.items === undefined ? [] : sampleList(schemas, schema.items, above);
  if (type === "object") return sampleObject(schemas, schema, above);
  return null;
}

function sampleOfNamed(schemas: Schemas, name: string, above: readonly string[]): Json {
  const schema = schemas[name];
  return schema === undefined || above.includes(name) ? null : sampleValue(schemas, schema, [...above, name]);
}

function sampleOfChoice(schemas: Schemas, choices: readonly Schema[], above: readonly string[]): Json {
  const [first] = choices;
  return first === undefined ? null : sampleValue(schemas, first, above);
}

function sampleList(schemas: Schemas, items: Schema, above: readonly string[]): Json {
  const item = sampleValue(schemas, items, above);
  return item === null ? [] : [item];
}

function sampleObject(schemas: Schemas, { properties = {} }: Schema, above: readonly string[]): Json {
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, property]) => {
      const value = sampleValue(schemas, property, above);
      return value === null ? [] : [[name, value]];
    }),
  );
}
