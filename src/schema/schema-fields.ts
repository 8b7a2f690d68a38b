import { resolveRef, type SchemaNode, unionVariants } from "./schema-node.ts";

/** One field that a schema describes. */
export type SchemaField = { readonly path: string; readonly node: SchemaNode };

const read = new WeakMap<SchemaNode, readonly SchemaField[]>();

/** All fields of a schema and its variants, except the discriminators of variants. */
export function schemaFields(schema: SchemaNode): readonly SchemaField[] {
  const fields = read.get(schema) ?? fieldsBelow(schema, schema, "");
  read.set(schema, fields);
  return fields;
}

function fieldsBelow(schema: SchemaNode, given: SchemaNode, path: string): readonly SchemaField[] {
  const node = resolveRef(schema, given);
  const own = Object.entries(node.properties ?? {}).flatMap(([name, property]) => {
    if (property.const !== undefined && property.description === undefined) return [];
    const field = { path: path === "" ? name : `${path}.${name}`, node: resolveRef(schema, property) };
    return [field, ...fieldsBelow(schema, property, field.path)];
  });
  const forms = unionVariants(schema, node).flatMap((variant) => fieldsBelow(schema, variant.node, path));
  const items = node.items === undefined ? [] : fieldsBelow(schema, node.items, `${path}[]`);
  return [...own, ...forms, ...items];
}
