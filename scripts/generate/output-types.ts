import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { compile, type JSONSchema } from "json-schema-to-typescript";

type Node = { readonly [word: string]: unknown };

/** How types are made of JSON Schemas. */
export const TYPE_OPTIONS = {
  bannerComment: "",
  additionalProperties: false,
  ignoreMinAndMaxItems: true,
  unreachableDefinitions: true,
  format: false,
} as const;

/** Source text of `src/contract/generated/output.ts`: the documents that commands write with `-o json`. */
export async function outputTypesText(root: string): Promise<string> {
  const body = await compile(joined(join(root, "schemas/output")), "Output", TYPE_OPTIONS);
  // The schema that joins the documents describes none itself.
  const types = body
    .replace(/^export interface Output \{\s*\}\n/m, "")
    .replaceAll(/ \* \n \* This interface.*\n.*\n/g, "");
  return `import type { Json } from "../json.ts";\n\n${toReadOnly(types)}`;
}

// One schema with every document and every part, so that what documents share is one type.
function joined(folder: string): JSONSchema {
  const documents = readdirSync(folder).filter((name) => name.endsWith(".json"));
  const definitions: Record<string, JSONSchema> = {};
  for (const file of documents.toSorted()) {
    const {
      $defs = {},
      $id: _,
      ...document
    } = JSON.parse(readFileSync(join(folder, file), "utf8")) as {
      $defs?: { [name: string]: Node };
      [word: string]: unknown;
    };
    for (const [name, part] of Object.entries({ ...$defs, [basename(file, ".json")]: document })) {
      if ("type" in part || "enum" in part) definitions[name] = typed(part) as JSONSchema;
    }
  }
  return { $defs: definitions, type: "object", additionalProperties: false } as JSONSchema;
}

function typed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(typed);
  if (typeof node !== "object" || node === null) return node;
  if ("$ref" in node && typeof node.$ref === "string") {
    return { $ref: node.$ref.replace(/^(\w+)\.json$/, "#/$defs/$1").replace(/^[^#]*/, "") };
  }
  if (Object.keys(node).every((word) => word === "description")) return { ...node, tsType: "Json" };
  return Object.fromEntries(
    Object.entries(node).map(([word, inner]) => [
      word,
      word === "properties" ? typedEach(inner as Node) : typed(inner),
    ]),
  );
}

function typedEach(properties: Node): Node {
  return Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, typed(property)]));
}

/** Types that are read-only all the way down; the library makes mutable ones. */
export function toReadOnly(types: string): string {
  return types
    .replaceAll(/^export interface (\w+) \{/gm, "export type $1 = {")
    .replaceAll(/^(\w+\??: )/gm, "readonly $1")
    .replaceAll(/(\w+)\[\]/g, "readonly $1[]")
    .replaceAll(/(\{[^{}]*\}|\([^()]*\))\[\]/g, "readonly $1[]");
}
