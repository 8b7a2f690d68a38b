import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { isObject, type Json } from "../../../src/contract/json.ts";
import { manifestTypes, schemaFor } from "../../../src/schema/schemas.ts";
import {
  manifestSchemaName,
  pascalCase,
  refTo,
  type Schema,
  type Schemas,
} from "../../../src/server/openapi/json-schema.ts";
import type { ResourceDefinition } from "../../../src/server/resource.ts";

const DEFS_PREFIX = "#/$defs/";

const folder = join(import.meta.dirname, "../../../schemas/components");

/** The schemas of resources in replies, from `schemas/components`. */
export const replySchemas: Schemas = Object.fromEntries(
  readdirSync(folder)
    .toSorted()
    .map((file) => [basename(file, ".json"), readComponent(join(folder, file))]),
);

/** The schemas of all manifests: those in `schemas/`, and those that resources define in code. */
export function manifestSchemas(resources: readonly ResourceDefinition[], unknownFields: "refuse" | "allow"): Schemas {
  const files = manifestTypes.flatMap((type) => {
    const schema = schemaFor(type);
    // Aliases, such as `sso-team`, share the schema of another type.
    const isAlias = schema?.$id?.endsWith(`/${type}.json`) !== true;
    return schema === undefined || isAlias ? [] : [[type, schema as Json] as const];
  });
  const schemas = Object.fromEntries(files.flatMap(([type, schema]) => hoisted(type, schema, unknownFields)));
  return Object.assign(
    {},
    schemas,
    ...resources.map(({ manifestSchemas: own }) => own?.(schemas, unknownFields) ?? {}),
  );
}

// `$defs` of a file become components with longer names: few tools support `$id`.
function hoisted(type: string, file: Json, unknownFields: "refuse" | "allow"): readonly (readonly [string, Schema])[] {
  const { $schema, $id, $defs, ...root } = isObject(file) ? file : {};
  const inner = isObject($defs) ? Object.entries($defs) : [];
  const adapt = (schema: Json) => adapted(schema, type, unknownFields) as Schema;
  return [
    [manifestSchemaName(type), adapt(root)],
    ...inner.map(([name, schema]) => [innerName(type, name), adapt(schema)] as const),
  ];
}

function adapted(value: Json, type: string, unknownFields: "refuse" | "allow"): Json {
  if (Array.isArray(value)) return value.map((item: Json) => adapted(item, type, unknownFields));
  if (!isObject(value)) return value;
  // Objects that are not closed are marked as open explicitly.
  const isOpen = isObject(value.properties) && value.allOf === undefined && value.additionalProperties === undefined;
  const entries = Object.entries(value).flatMap(([key, inner]): readonly (readonly [string, Json])[] => {
    if (key === "$ref" && typeof inner === "string" && inner.startsWith(DEFS_PREFIX)) {
      return [[key, refTo(innerName(type, inner.slice(DEFS_PREFIX.length)))]];
    }
    if (key === "additionalProperties" && inner === false && unknownFields === "allow") return [];
    // Conditions are copied unchanged.
    return [[key, key === "if" ? inner : adapted(inner, type, unknownFields)]];
  });
  return { ...Object.fromEntries(entries), ...(isOpen && { additionalProperties: true }) };
}

function innerName(type: string, name: string): string {
  return `${pascalCase(type)}${pascalCase(name)}`;
}

function readComponent(path: string): Schema {
  return JSON.parse(readFileSync(path, "utf8")) as Schema;
}
