import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { compile, type JSONSchema } from "json-schema-to-typescript";
import { TYPE_OPTIONS, toReadOnly } from "./output-types.ts";

type Node = { readonly [word: string]: unknown };

// Names of types in code that differ from those in the OpenAPI document.
const typeNames: { readonly [component: string]: string } = {
  Error: "ErrorBody",
  HelmManifest: "AddonHelmManifest",
  Lease: "LeaseResource",
  Secret: "SecretResource",
};

const PREFIX = "#/components/schemas/";

/** Source text of `src/contract/generated/resources.ts`: what the control plane answers. */
export async function replyTypesText(root: string): Promise<string> {
  const folder = join(root, "schemas/components");
  const names = readdirSync(folder).map((file) => basename(file, ".json"));
  const known = new Map(names.toSorted().map((name) => [name, typeNames[name] ?? name]));
  const $defs = Object.fromEntries(
    [...known].map(([name, type]) => [
      type,
      typed(JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8")) as Node, known),
    ]),
  );
  const body = await compile({ $defs, type: "object", additionalProperties: false }, "Replies", TYPE_OPTIONS);
  const types = body.replace(/^export interface Replies \{\s*\}\n/m, "");
  return `import type { Json, JsonObject } from "../json.ts";\n\n${toReadOnly(types)}`;
}

function typed(node: Node, known: ReadonlyMap<string, string>): JSONSchema {
  const { description, $ref, properties, items, anyOf, type, enum: values } = node;
  const head = { description: String(description) };
  if (typeof $ref === "string") {
    const name = known.get($ref.slice(PREFIX.length));
    return name === undefined ? { ...head, tsType: "JsonObject" } : { $ref: `#/$defs/${name}` };
  }
  if (node["x-free"] === true) return { ...head, tsType: "JsonObject" };
  if (Array.isArray(anyOf)) return { ...head, anyOf: anyOf.map((form: Node) => typed(form, known)) };
  if (type === undefined) return { ...head, tsType: "Json" };
  return {
    ...head,
    type: type as "string",
    ...(Array.isArray(values) && { enum: values }),
    ...(items !== undefined && { items: typed(items as Node, known) }),
    ...(properties !== undefined && typedMembers(properties as Node, (node.required ?? []) as string[], known)),
  };
}

function typedMembers(members: Node, required: readonly string[], known: ReadonlyMap<string, string>): JSONSchema {
  const properties = Object.entries(members).map(([name, member]) => [name, typed(member as Node, known)] as const);
  return { properties: Object.fromEntries(properties), required: [...required], additionalProperties: false };
}
