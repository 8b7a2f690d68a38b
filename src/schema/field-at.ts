import { isObject } from "../contract/json.ts";
import { resolveRef, type SchemaNode, unionVariants } from "./schema-node.ts";

/** The schema's description of one place in a value. */
export type Field = {
  /** Undefined if the schema does not describe the content. */
  readonly node: SchemaNode | undefined;
  readonly value: unknown;
  /** The names of the fields that are allowed here. */
  readonly names: readonly string[];
};

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
