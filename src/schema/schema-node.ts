/** A node of a JSON Schema with the keywords that `schemas/` uses. */
export type SchemaNode = {
  readonly $id?: string;
  readonly $ref?: string;
  readonly $defs?: { readonly [name: string]: SchemaNode };
  readonly title?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: { readonly [name: string]: SchemaNode };
  readonly patternProperties?: { readonly [pattern: string]: SchemaNode };
  readonly additionalProperties?: boolean | SchemaNode;
  readonly items?: SchemaNode;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  /** A union with the discriminator `type`: each branch is one variant. */
  readonly allOf?: readonly { readonly if: SchemaNode; readonly then: SchemaNode }[];
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  /** The known values of an open enumeration; a leading `*` matches any string. */
  readonly "x-known"?: readonly string[];
  /** Custom values are common. Only a likely misspelling of a known value is a warning. */
  readonly "x-custom"?: true;
  readonly "x-unit"?: string;
  /** The expected form of a string, described for people. */
  readonly "x-form"?: string;
  /** The fields by which items of an unordered list are matched. */
  readonly "x-key"?: readonly string[];
  /** The list is an unordered set of scalars. */
  readonly "x-set"?: true;
  /** The content belongs to the user and is not described. */
  readonly "x-free"?: true;
  /** A map whose values are compared as strings. */
  readonly "x-as-text"?: true;
  readonly "x-sensitive"?: true | "keys";
  /** Who may set a key of the configuration. */
  readonly "x-class"?: "repository" | "operator";
};

/** One field that a schema describes. */
export type SchemaField = { readonly path: string; readonly node: SchemaNode };

const read = new WeakMap<SchemaNode, readonly SchemaField[]>();

/** The node that a `$ref` refers to, merged with the annotations next to the reference. */
export function resolveRef(schema: SchemaNode, node: SchemaNode): SchemaNode {
  const { $ref, ...annotations } = node;
  if ($ref === undefined) return node;
  const found = schema.$defs?.[$ref.slice("#/$defs/".length)];
  if (found === undefined) throw new Error(`${schema.$id ?? "the schema"} has no ${$ref}`);
  return { ...found, ...annotations };
}

/** The variants of a union, each with its `type`. */
export function unionVariants(schema: SchemaNode, node: SchemaNode): readonly { type: string; node: SchemaNode }[] {
  return (node.allOf ?? []).map((branch) => ({
    type: String(branch.if.properties?.type?.const),
    node: resolveRef(schema, branch.then),
  }));
}

/** The types that a node allows, except null. */
export function allowedTypes({ type }: SchemaNode): readonly string[] {
  return (typeof type === "string" ? [type] : (type ?? [])).filter((name) => name !== "null");
}

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
