import { compile, type JSONSchema } from "json-schema-to-typescript";
import { allowedTypes, resolveRef, type SchemaNode, unionVariants } from "../../src/schema/schema-node.ts";
import type { Schemas } from "./schemas.ts";

const OPTIONS = {
  bannerComment: "",
  additionalProperties: false,
  ignoreMinAndMaxItems: true,
  format: false,
  strictIndexSignatures: false,
} as const;

// The library writes mutable types; data of ours is read-only all the way down.
const IMMUTABLE = `type Immutable<T> = T extends readonly (infer Item)[]
  ? readonly Immutable<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: Immutable<T[Name]> }
    : T;
`;

/** Source text of `src/contract/generated/manifests.ts`. */
export async function manifestTypesText({ kinds }: Schemas): Promise<string> {
  const parts = await Promise.all([...kinds].map(([type, schema]) => typeText(`${pascal(type)}Manifest`, schema)));
  return ['import type { Json, JsonObject } from "../json.ts";', "", IMMUTABLE, ...parts].join("\n");
}

/** Source text of `src/contract/generated/config.ts`. */
export async function configTypesText({ config }: Schemas): Promise<string> {
  return [
    'import type { JsonObject } from "../json.ts";',
    "",
    IMMUTABLE,
    await typeText("HoldfastConfig", config),
  ].join("\n");
}

async function typeText(name: string, schema: SchemaNode): Promise<string> {
  const inner = `Mutable${name}`;
  const body = await compile(typed(schema, schema, inner), inner, OPTIONS);
  const own = body.replace(/^export /gm, "");
  return `${own}\n/** ${schema.description}. */\nexport type ${name} = Immutable<${inner}>;\n`;
}

// The dialect in a form that has types: unions told apart by `type` become `anyOf`, free fields become Json.
function typed(schema: SchemaNode, given: SchemaNode, title?: string): JSONSchema {
  const node = resolveRef(schema, given);
  const { description } = node;
  const head = { ...(title === undefined ? {} : { title }), ...(description === undefined ? {} : { description }) };
  const nullable = Array.isArray(node.type) && node.type.includes("null");
  const forms = formsOf(schema, node);
  const all = nullable ? [...forms, { type: "null" } as const] : forms;
  return all.length === 1 ? { ...all[0], ...head } : { ...head, anyOf: all };
}

function formsOf(schema: SchemaNode, node: SchemaNode): JSONSchema[] {
  if (node.const !== undefined) return [{ const: node.const as string }];
  if (node.enum !== undefined && node.allOf === undefined) {
    return [{ enum: node.enum.filter((value) => value !== null) as string[] }];
  }
  const unionForms = unionVariants(schema, node).map((variant) => typed(schema, variant.node));
  if (unionForms.length > 0) return node.properties?.type?.enum === undefined ? [...unionForms, OPEN] : unionForms;
  return allowedTypes(node).length === 0
    ? [{ tsType: "Json" }]
    : allowedTypes(node).map((type) => form(schema, node, type));
}

const OPEN: JSONSchema = {
  type: "object",
  properties: { type: { type: "string" } },
  required: ["type"],
  additionalProperties: { tsType: "Json" },
};

function form(schema: SchemaNode, node: SchemaNode, type: string): JSONSchema {
  if (type === "array")
    return node["x-free"] ? { tsType: "readonly Json[]" } : { type: "array", items: typed(schema, node.items ?? {}) };
  if (type !== "object") return { type: type as "string" };
  if (node["x-free"]) return { tsType: "JsonObject" };
  if (node["x-as-text"]) return { tsType: "{ readonly [name: string]: string | number | boolean }" };
  return {
    type: "object",
    properties: Object.fromEntries(
      Object.entries(node.properties ?? {}).map(([name, property]) => [name, typed(schema, property)]),
    ),
    required: [...(node.required ?? [])],
    additionalProperties:
      node.additionalProperties === false && node.patternProperties === undefined ? false : { tsType: "Json" },
  };
}

function pascal(type: string): string {
  return type.replace(/(?:^|[-_])(\w)/g, (_, letter: string) => letter.toUpperCase());
}
