import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { SchemaNode } from "../../src/schema/node.ts";

/** The schemas of `schemas/`, by manifest type, and the one of the configuration file. */
export type Schemas = { readonly kinds: ReadonlyMap<string, SchemaNode>; readonly config: SchemaNode };

/** Reads every schema of the project. */
export function readSchemas(root: string): Schemas {
  const folder = join(root, "schemas");
  const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
  return {
    kinds: new Map(files.toSorted().map((name) => [basename(name, ".json"), readSchema(join(folder, name))])),
    config: readSchema(join(folder, "config", "holdfast.json")),
  };
}

/** Every `type` that a schema describes: the one it is named after, and aliases such as `sso-team`. */
export function typeNames(type: string, schema: SchemaNode): readonly string[] {
  return [...new Set([type, ...(schema.properties?.type?.enum ?? []).map(String)])];
}

/** Source text of `src/schema/generated/schemas.ts`: texts, since they are read only when something is wrong. */
export function schemasText({ kinds, config }: Schemas): string {
  const row = (name: string, schema: SchemaNode) =>
    `  ${JSON.stringify(name)}: ${JSON.stringify(JSON.stringify(schema))},`;
  const rows = [...kinds].flatMap(([type, schema]) => typeNames(type, schema).map((name) => row(name, schema)));
  return [
    "/** Every JSON Schema as text, by manifest type; the configuration's under `config`. */",
    "export const schemaTexts: { readonly [name: string]: string } = {",
    ...rows,
    row("config", config),
    "};",
    "",
  ].join("\n");
}

function readSchema(path: string): SchemaNode {
  return JSON.parse(readFileSync(path, "utf8")) as SchemaNode;
}
