import { refTo, type Schema, type Schemas } from "../../../src/server/openapi/json-schema.ts";
import { openApiTypes, refName } from "./read-schema.ts";

/**
 * The schemas in a form that client generators understand: unions are `oneOf` with a `discriminator`, lists have
 * `items`, and objects without properties are open.
 */
export function portableSchemas(schemas: Schemas): Schemas {
  return mapValues(schemas, portableSchema);
}

function portableSchema(given: Schema): Schema {
  const schema = withInner(given, portableSchema);
  const union = unionOf(schema);
  if (union !== null) return union;
  const types = openApiTypes(schema);
  return {
    ...schema,
    ...(types.includes("array") && schema.items === undefined && { items: {} }),
    ...(types.includes("object") && isFree(schema) && { additionalProperties: true }),
  };
}

function isFree({ properties, additionalProperties }: Schema): boolean {
  return properties === undefined && additionalProperties === undefined;
}

function withInner(schema: Schema, change: (inner: Schema) => Schema): Schema {
  const { properties, items, anyOf, allOf, then, additionalProperties } = schema;
  return {
    ...schema,
    ...(properties !== undefined && { properties: mapValues(properties, change) }),
    ...(items !== undefined && { items: change(items) }),
    ...(anyOf !== undefined && { anyOf: anyOf.map(change) }),
    ...(allOf !== undefined && { allOf: allOf.map(change) }),
    // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema
    ...(then !== undefined && { then: change(then) }),
    ...(typeof additionalProperties === "object" && { additionalProperties: change(additionalProperties) }),
  };
}

type Form = { readonly field: string; readonly value: string; readonly name: string };

/** Variants that `if` and `then` choose by one field, as a union; null when the schema has other conditions. */
function unionOf({ allOf = [], title, description, default: preset, examples, ...base }: Schema): Schema | null {
  const forms = allOf.map(formOf);
  const known = forms.filter((form) => form !== null);
  const [first] = known;
  if (first === undefined || known.length < forms.length) return null;
  const union: Schema = {
    type: "object",
    oneOf: known.map(({ name }) => ({ $ref: refTo(name) })),
    discriminator: {
      propertyName: first.field,
      mapping: Object.fromEntries(known.map(({ value, name }) => [value, refTo(name)])),
    },
  };
  const others = otherForms(base, first.field, known);
  return {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(others.length === 0 ? union : { anyOf: [union, ...others] }),
    ...(preset !== undefined && { default: preset }),
    ...(examples !== undefined && { examples }),
  };
}

function formOf({ if: condition, then }: Schema): Form | null {
  const [[field, { const: value }] = ["", {} as Schema]] = Object.entries(condition?.properties ?? {});
  return typeof value === "string" && then?.$ref !== undefined ? { field, value, name: refName(then.$ref) } : null;
}

/** Alternatives to the known variants: other types than objects, and objects with an unknown discriminator value. */
function otherForms(base: Schema, field: string, known: readonly Form[]): readonly Schema[] {
  const noObject = openApiTypes(base)
    .filter((type) => type !== "object")
    .map((type): Schema => ({ type, ...(type === "array" && { items: base.items ?? {} }) }));
  const { [field]: mark = {}, ...others } = base.properties ?? {};
  if (mark.enum !== undefined) return noObject;
  const { "x-known": _, examples: __, ...open } = mark;
  return [
    {
      title: "Other",
      description: "A form that this document does not describe",
      type: "object",
      required: base.required ?? [field],
      properties: { [field]: { ...open, not: { enum: known.map(({ value }) => value) } }, ...others },
      additionalProperties: true,
    },
    ...noObject,
  ];
}

function mapValues(schemas: Schemas, change: (schema: Schema) => Schema): Schemas {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, change(schema)]));
}
