import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { SchemaNode } from "../../src/schema/schema-node.ts";
import { bundled } from "./bundle.ts";

/** The schemas of `schemas/`, by manifest type, and those that are no kind's own. */
export type Schemas = {
  readonly kinds: ReadonlyMap<string, SchemaNode>;
  readonly config: SchemaNode;
  /** What every application has, of whatever type. */
  readonly application: SchemaNode;
  /** The files as they stand: those of kinds, in which parts of `shared/` are references, and those parts. */
  readonly files: { readonly kinds: ReadonlyMap<string, SchemaNode>; readonly shared: readonly SchemaNode[] };
};

/** Reads every schema of the project, each with the parts of `shared/` that it refers to among its own. */
export function readSchemas(root: string): Schemas {
  const folder = join(root, "schemas");
  const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
  const read = (path: string) => bundled(folder, readSchema(join(folder, path)));
  const each = (of: (name: string) => SchemaNode) =>
    new Map(files.toSorted().map((name) => [basename(name, ".json"), of(name)]));
  const shared = readdirSync(join(folder, "shared")).toSorted();
  return {
    kinds: each(read),
    files: {
      kinds: each((name) => readSchema(join(folder, name))),
      shared: shared.map((name) => readSchema(join(folder, "shared", name))),
    },
    config: read("config/holdfast.json"),
    application: read("shared/application.json"),
  };
}

/** What the schema of all applications is found under: no manifest has such a type. */
export const APPLICATION = "*application";

/** Every `type` that a schema describes: the one it is named after, and aliases such as `sso-team`. */
export function typeNames(type: string, schema: SchemaNode): readonly string[] {
  return [...new Set([type, ...(schema.properties?.type?.enum ?? []).map(String)])];
}

/** Source text of `src/schema/generated/schemas.ts`: texts, since they are read only when something is wrong. */
export function schemasText({ kinds, config, application }: Schemas): string {
  const row = (name: string, schema: SchemaNode) =>
    `  ${JSON.stringify(name)}: ${JSON.stringify(JSON.stringify(schema))},`;
  const rows = [...kinds].flatMap(([type, schema]) => typeNames(type, schema).map((name) => row(name, schema)));
  return [
    "/** Every JSON Schema as text, by manifest type; the configuration's under `config`, what applications share under `*application`. */",
    "export const schemaTexts: { readonly [name: string]: string } = {",
    ...rows,
    row("config", config),
    row(APPLICATION, application),
    "};",
    "",
  ].join("\n");
}

function readSchema(path: string): SchemaNode {
  return JSON.parse(readFileSync(path, "utf8")) as SchemaNode;
}
