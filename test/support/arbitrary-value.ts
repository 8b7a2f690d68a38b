import fc from "fast-check";
import { openApiTypes, resolveSchema } from "../../scripts/generate/openapi/read-schema.ts";
import type { Json } from "../../src/contract/json.ts";
import type { Schema, Schemas } from "../../src/server/openapi/json-schema.ts";

/** Values that a schema allows; often those of its examples, so that what they refer to exists. */
export function valuesOf(schemas: Schemas, given: Schema): fc.Arbitrary<Json> {
  const schema = resolveSchema(schemas, given);
  const examples = [...(schema.examples ?? []), ...(schema["x-known"] ?? [])];
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const made = generated(schemas, schema);
  if (examples.length === 0) return made;
  return fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...examples) }, { weight: 1, arbitrary: made });
}

function generated(schemas: Schemas, schema: Schema): fc.Arbitrary<Json> {
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return fc.oneof(...choices.map((one) => valuesOf(schemas, one)));
  const types = openApiTypes(schema);
  if (types.length === 0) return anything;
  return fc.oneof(...types.map((type) => ofType(schemas, schema, type)));
}

const anything: fc.Arbitrary<Json> = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>;

function ofType(schemas: Schemas, schema: Schema, type: string): fc.Arbitrary<Json> {
  switch (type) {
    case "null":
      return fc.constant(null);
    case "boolean":
      return fc.boolean();
    case "integer":
      return fc.integer({ min: schema.minimum ?? 0, max: Math.min(schema.maximum ?? 1000, 2 ** 31 - 1) });
    case "number":
      return fc.double({ min: schema.minimum ?? 0, max: schema.maximum ?? 1000, noNaN: true });
    case "string":
      return textOf(schema);
    case "array":
      return fc.array(valuesOf(schemas, schema.items ?? {}), { minLength: schema.minItems ?? 0, maxLength: 3 });
    default:
      return objectOf(schemas, schema);
  }
}

function textOf({ pattern, minLength = 0, maxLength = 20 }: Schema): fc.Arbitrary<string> {
  if (pattern === undefined) return fc.string({ minLength, maxLength: Math.max(minLength, Math.min(maxLength, 20)) });
  return fc.stringMatching(new RegExp(pattern)).filter((text) => text.length >= minLength && text.length <= maxLength);
}

function objectOf(schemas: Schemas, schema: Schema): fc.Arbitrary<Json> {
  const { properties = {}, required = [], additionalProperties } = schema;
  const fields = Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [name, valuesOf(schemas, property)]),
  );
  const known = fc.record(fields, { requiredKeys: required.filter((name) => name in fields) });
  if (typeof additionalProperties !== "object") return known;
  const others = fc.dictionary(fc.stringMatching(/^[A-Z_]{1,8}$/), valuesOf(schemas, additionalProperties), {
    maxKeys: 3,
  });
  return fc.tuple(known, others).map(([left, right]) => ({ ...right, ...left }));
}
