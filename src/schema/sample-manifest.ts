import { isObject, type Json, type JsonObject } from "../contract/json.ts";
import { inFieldOrder } from "./field-order.ts";
import { allowedTypes, resolveRef, type SchemaNode, unionVariants } from "./schema-node.ts";
import { schemaFor } from "./schemas.ts";

/** The least manifest of a type that is of use: the example of its schema. */
export function minimalManifest(type: string): JsonObject {
  const { node } = rootOf(type);
  return inFieldOrder(type, { ...(exampleOf(node) as JsonObject), type });
}

/**
 * A valid manifest of a type with every field, from the examples of its schema. A field that takes one of several forms
 * has one of them: the number `form` stands for a choice at each such field, and 0 for those of the examples.
 */
export function fullManifest(type: string, form = 0): JsonObject {
  const { schema, node } = rootOf(type);
  return inFieldOrder(type, { ...sampleObject(schema, node, form), type });
}

function rootOf(type: string): { readonly schema: SchemaNode; readonly node: SchemaNode } {
  const schema = schemaFor(type) ?? {};
  const variant = unionVariants(schema, schema).find((one) => one.type === type)?.node ?? {};
  const properties = { ...schema.properties, ...variant.properties };
  return { schema, node: { ...schema, ...variant, properties } };
}

function sample(schema: SchemaNode, given: SchemaNode, form: number): Json {
  const node = resolveRef(schema, given);
  if (node.const !== undefined) return node.const as Json;
  const shapes = shapesOf(schema, node);
  const shape = shapes[form % shapes.length];
  return shape === undefined ? exampleOf(node) : shape(Math.floor(form / shapes.length));
}

/** The ways in which a value can be made of the parts that a node describes; none if its example is all there is. */
function shapesOf(schema: SchemaNode, node: SchemaNode): readonly ((form: number) => Json)[] {
  const example = exampleOf(node);
  const types = allowedTypes(node);
  const { items = {}, properties } = node;
  const part = resolveRef(schema, items);
  const variants = types.includes("object") ? unionVariants(schema, node) : [];
  const exampleType = isObject(example) ? example.type : undefined;
  const ordered = variants.toSorted((a, b) => Number(b.type === exampleType) - Number(a.type === exampleType));
  const shapes = [
    ...ordered.map((variant) => (form: number) => sampleVariant(schema, node, variant, form)),
    ...(variants.length === 0 && types.includes("object") && properties !== undefined
      ? [(form: number) => sampleObject(schema, node, form)]
      : []),
    ...(types.includes("array") && (part.properties ?? part.allOf) !== undefined
      ? [(form: number) => [sample(schema, items, form)]]
      : []),
  ];
  return shapes.length === 0 || typeof example === "object" ? shapes : [() => example, ...shapes];
}

type Variant = { readonly type: string; readonly node: SchemaNode };

function sampleVariant(schema: SchemaNode, node: SchemaNode, variant: Variant, form: number): JsonObject {
  const own = { ...sampleObject(schema, node, form), ...sampleObject(schema, variant.node, form) };
  return { ...own, type: variant.type };
}

function sampleObject(schema: SchemaNode, { properties = {} }: SchemaNode, form: number): JsonObject {
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [name, sample(schema, property, form)]),
  );
}

function exampleOf({ examples = [], enum: values = [], default: byDefault = null }: SchemaNode): Json {
  return ([...examples, ...values, byDefault][0] ?? null) as Json;
}
