import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { SchemaNode } from "../../src/schema/schema-node.ts";
import { bundleSchema } from "./bundle-schema.ts";

/** The schemas of `schemas/`, by manifest type, and those that are no kind's own. */
export type Schemas = {
  readonly kinds: ReadonlyMap<string, SchemaNode>;
  readonly config: SchemaNode;
  /** A file of a folder of policies. */
  readonly policy: SchemaNode;
  /** What every application has, of whatever type. */
  readonly application: SchemaNode;
  /** The bodies that a daemon takes, by the names of their parts in `output/`. */
  readonly requests: ReadonlyMap<string, SchemaNode>;
  /** The files as they stand: those of kinds, in which parts of `shared/` are references, and those parts. */
  readonly files: { readonly kinds: ReadonlyMap<string, SchemaNode>; readonly shared: readonly SchemaNode[] };
};

/** Reads every schema of the project, each with the parts of `shared/` that it refers to among its own. */
export function readSchemas(root: string): Schemas {
  const folder = join(root, "schemas");
  const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
  const read = (path: string) => bundleSchema(folder, readSchema(join(folder, path)));
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
    policy: read("config/policy.json"),
    application: read("shared/application.json"),
    requests: requestsIn(join(folder, "output")),
  };
}

const REQUEST = /(?:Request|ToSend)$/;

function requestsIn(folder: string): ReadonlyMap<string, SchemaNode> {
  const parts = readdirSync(folder).flatMap((name) => Object.entries(readSchema(join(folder, name)).$defs ?? {}));
  return new Map(parts.filter(([name]) => REQUEST.test(name)));
}

/** What the schema of all applications is found under: no manifest has such a type. */
export const APPLICATION = "_application";

/** Every `type` that a schema describes: the one it is named after, and aliases such as `sso-team`. */
export function typeNames(type: string, schema: SchemaNode): readonly string[] {
  return [...new Set([type, ...(schema.properties?.type?.enum ?? []).map(String)])];
}

/** Texts of all schemas by file name, each with the parts of `shared/` that it refers to. */
export function schemaTexts({
  kinds,
  config,
  policy,
  application,
  requests,
}: Schemas): readonly (readonly [string, string])[] {
  const others = [["config", config] as const, ["policy", policy] as const, [APPLICATION, application] as const];
  return [...kinds, ...others, ...requests].map(([name, schema]) => [name, JSON.stringify(schema)]);
}

/** Source text of `src/schema/generated/types.ts`: what is asked of every type while its schema is not read. */
export function typesText({ kinds, requests }: Schemas): string {
  const rows = [...kinds].flatMap(([file, schema]) => {
    const row = JSON.stringify({ file, required: schema.required ?? [] });
    return typeNames(file, schema).map((name) => `  ${JSON.stringify(name)}: ${row},`);
  });
  return [
    "/** Every type of manifest: the file name of its schema, and the fields that it requires. */",
    "export const schemaTypes: { readonly [type: string]: { readonly file: string; readonly required: readonly string[] } } = {",
    ...rows,
    "};",
    "/** The names of the bodies that a daemon takes. */",
    `export const requestNames = ${JSON.stringify([...requests.keys()])} as const;`,
    "",
  ].join("\n");
}

// Editors follow `required` in the file. What a default may give is required too, of a manifest with its defaults.
function readSchema(path: string): SchemaNode {
  const schema = JSON.parse(readFileSync(path, "utf8")) as SchemaNode;
  const later = schema["x-required-after-defaults"];
  return later === undefined ? schema : { ...schema, required: [...(schema.required ?? []), ...later] };
}
