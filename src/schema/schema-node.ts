import { isObject } from "../contract/json.ts";

/** A node of a JSON Schema with the keywords that `schemas/` uses. */
export type SchemaNode = {
  readonly $schema?: string;
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
  /** Fields that are required once defaults of the configuration are filled in; they are in `required` too. */
  readonly "x-required-after-defaults"?: readonly string[];
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
  /** The field says which version of something is used, so that a promotion copies it. */
  readonly "x-version"?: true;
  /** Who may set a key of the configuration. */
  readonly "x-class"?: "repository" | "operator";
};

/** One field that a schema describes. */
export type SchemaField = { readonly path: string; readonly node: SchemaNode };

const read = new WeakMap<SchemaNode, readonly SchemaField[]>();

/** The schema's description of one place in a value. */
export type Field = {
  /** Undefined if the schema does not describe the content. */
  readonly node: SchemaNode | undefined;
  readonly value: unknown;
  /** The names of the fields that are allowed here. */
  readonly names: readonly string[];
};

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

/** Follows reference tokens through a value and its schema in parallel, choosing variants by their `type`. */
export function fieldAt(schema: SchemaNode, value: unknown, tokens: readonly string[]): Field {
  let forms = formsOf(schema, schema, value);
  let at = value;
  for (const token of tokens) {
    at = childOf(at, token);
    const next = forms.map((form) => step(form, token)).findLast((node) => node !== undefined);
    forms = next === undefined ? [] : formsOf(schema, next, at);
  }
  return {
    node: forms[0],
    value: at,
    names: [...new Set(forms.flatMap(({ properties }) => Object.keys(properties ?? {})))],
  };
}

function formsOf(schema: SchemaNode, given: SchemaNode, value: unknown): readonly SchemaNode[] {
  const node = resolveRef(schema, given);
  const type = isObject(value) ? value.type : undefined;
  return [node, ...unionVariants(schema, node).flatMap((variant) => (variant.type === type ? [variant.node] : []))];
}

function step({ properties, patternProperties, additionalProperties, items }: SchemaNode, token: string) {
  const property = properties !== undefined && Object.hasOwn(properties, token) ? properties[token] : undefined;
  // In a variant, `type` is only the discriminator; the union describes it.
  if (property !== undefined) return Object.keys(property).length > 1 || property.$ref ? property : undefined;
  const matching = Object.entries(patternProperties ?? {}).find(([pattern]) => new RegExp(pattern, "u").test(token));
  if (matching !== undefined) return matching[1];
  return items ?? (typeof additionalProperties === "object" ? additionalProperties : undefined);
}

function childOf(value: unknown, token: string): unknown {
  if (Array.isArray(value)) return value[Number(token)];
  return isObject(value) && Object.hasOwn(value, token) ? value[token] : undefined;
}
