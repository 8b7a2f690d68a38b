import { compile, type JSONSchema } from "json-schema-to-typescript";
import { allowedTypes, resolveRef, type SchemaNode } from "../../src/schema/schema-node.ts";
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

/** Source text of `src/contract/generated/manifests.ts`: each part of a schema is one type. */
export async function manifestTypesText({ kinds, files }: Schemas): Promise<string> {
  const parts = new Map<string, () => Promise<string>>();
  const manifests = [...kinds].map(([type, schema]) => {
    const own = files.kinds.get(type)?.$defs ?? {};
    const names = new Map(
      Object.keys(schema.$defs ?? {}).map((part) => [
        part,
        `${Object.hasOwn(own, part) ? pascal(type) : "Shared"}${pascal(part)}`,
      ]),
    );
    for (const [part, node] of Object.entries(schema.$defs ?? {})) {
      const title = names.get(part) ?? "";
      parts.set(title, () => partText(title, typed({ schema, names }, node)));
    }
    return () => typeText(`${pascal(type)}Manifest`, schema, names);
  });
  const texts = await Promise.all([...parts.values(), ...manifests].map((make) => make()));
  return ['import type { Json, JsonObject } from "../json.ts";', "", IMMUTABLE, ...texts].join("\n");
}

async function partText(title: string, body: JSONSchema): Promise<string> {
  return (await compile({ ...body, title }, title, OPTIONS)).replace(/^export /gm, "");
}

/** Source text of `src/contract/generated/config.ts`. */
export async function configTypesText({ config, policy }: Schemas): Promise<string> {
  return [
    'import type { Json, JsonObject } from "../json.ts";',
    "",
    IMMUTABLE,
    await typeText("HoldfastConfig", config),
    await typeText("HoldfastPolicy", policy),
  ].join("\n");
}

async function typeText(
  name: string,
  schema: SchemaNode,
  names: ReadonlyMap<string, string> = new Map(),
): Promise<string> {
  const inner = `Mutable${name}`;
  const body = await compile(typed({ schema, names }, schema, inner), inner, OPTIONS);
  const own = body.replace(/^export /gm, "");
  return `${own}\n/** ${schema.description}. */\nexport type ${name} = Immutable<${inner}>;\n`;
}

/** The schema whose parts are meant, and the names of their types. */
type Typing = { readonly schema: SchemaNode; readonly names: ReadonlyMap<string, string> };

const PART = "#/$defs/";

// The dialect in a form that has types: unions told apart by `type` become `anyOf`, free fields become Json.
function typed(on: Typing, given: SchemaNode, title?: string): JSONSchema {
  const node = resolveRef(on.schema, given);
  const { description } = node;
  const name = on.names.get(given.$ref?.slice(PART.length) ?? "");
  if (name !== undefined) return { tsType: name, ...(description !== undefined && { description }) };
  const head = { ...(title === undefined ? {} : { title }), ...(description === undefined ? {} : { description }) };
  const nullable = Array.isArray(node.type) && node.type.includes("null");
  const forms = formsOf(on, node);
  const all = nullable ? [...forms, { type: "null" } as const] : forms;
  return all.length === 1 ? { ...all[0], ...head } : { ...head, anyOf: all };
}

function formsOf(on: Typing, node: SchemaNode): JSONSchema[] {
  if (node.const !== undefined) return [{ const: node.const as string }];
  if (node.enum !== undefined && node.allOf === undefined) {
    return [{ enum: node.enum.filter((value) => value !== null) as string[] }];
  }
  const unionForms = (node.allOf ?? []).map((branch) => typed(on, branch.then));
  if (unionForms.length > 0) return node.properties?.type?.enum === undefined ? [...unionForms, OPEN] : unionForms;
  return allowedTypes(node).length === 0
    ? [{ tsType: "Json" }]
    : allowedTypes(node).map((type) => form(on, node, type));
}

const OPEN: JSONSchema = {
  type: "object",
  properties: { type: { type: "string" } },
  required: ["type"],
  additionalProperties: { tsType: "Json" },
};

function form(on: Typing, node: SchemaNode, type: string): JSONSchema {
  if (type === "array")
    return node["x-free"] ? { tsType: "readonly Json[]" } : { type: "array", items: typed(on, node.items ?? {}) };
  if (type !== "object") return { type: type as "string" };
  if (node["x-free"]) return { tsType: "JsonObject" };
  if (node["x-as-text"]) return { tsType: "{ readonly [name: string]: string | number | boolean }" };
  return {
    type: "object",
    properties: Object.fromEntries(
      Object.entries(node.properties ?? {}).map(([name, property]) => [name, typed(on, property)]),
    ),
    required: [...(node.required ?? [])],
    additionalProperties: othersOf(on, node),
  };
}

function othersOf(on: Typing, { properties, patternProperties, additionalProperties: others }: SchemaNode) {
  if (patternProperties !== undefined) return { tsType: "Json" };
  if (others === false) return false;
  return properties === undefined && typeof others === "object" ? typed(on, others) : { tsType: "Json" };
}

function pascal(type: string): string {
  return type.replace(/(?:^|[-_])(\w)/g, (_, letter: string) => letter.toUpperCase());
}
