/** A node of a JSON Schema in the dialect of `schemas/`: the words that those schemas use. */
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
  /** A union told apart by `type`: each branch is one variant. */
  readonly allOf?: readonly { readonly if: SchemaNode; readonly then: SchemaNode }[];
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  /** Values known of an open enumeration; a `*` in front stands for anything before the rest. */
  readonly "x-known"?: readonly string[];
  readonly "x-unit"?: string;
  /** The expected form of a text, in words. */
  readonly "x-form"?: string;
  /** Fields that match the items of a list whose order carries no meaning. */
  readonly "x-key"?: readonly string[];
  /** The list is a set of scalars. */
  readonly "x-set"?: true;
  /** The inside belongs to the user. */
  readonly "x-free"?: true;
  /** A map whose values are compared as texts. */
  readonly "x-as-text"?: true;
  readonly "x-sensitive"?: true | "keys";
  /** A key of the configuration that has no effect yet. */
  readonly "x-supported"?: false;
  /** Where a key of the configuration may come from. */
  readonly "x-class"?: "repository" | "operator";
};

/** What a `$ref` within the schema names, with the annotations that stand beside the reference. */
export function resolveRef(schema: SchemaNode, node: SchemaNode): SchemaNode {
  const { $ref, ...beside } = node;
  if ($ref === undefined) return node;
  const found = schema.$defs?.[$ref.slice("#/$defs/".length)];
  if (found === undefined) throw new Error(`${schema.$id ?? "the schema"} has no ${$ref}`);
  return { ...found, ...beside };
}

/** The variants of a union, each with the `type` that tells it apart. */
export function unionVariants(schema: SchemaNode, node: SchemaNode): readonly { type: string; node: SchemaNode }[] {
  return (node.allOf ?? []).map((branch) => ({
    type: String(branch.if.properties?.type?.const),
    node: resolveRef(schema, branch.then),
  }));
}

/** The types that a node allows, null aside. */
export function allowedTypes({ type }: SchemaNode): readonly string[] {
  return (typeof type === "string" ? [type] : (type ?? [])).filter((name) => name !== "null");
}
