import { isObject, type Json } from "../../contract/json.ts";
import { manifestTypes, schemaFor } from "../../schema/schemas.ts";
import type { Resource } from "../resource.ts";
import { manifestSchemaName, pascalCase } from "./manifest-schema-name.ts";
import { refTo, type Schema, type Schemas } from "./schema.ts";

const NAMED_INSIDE = "#/$defs/";

/** The schemas of all manifests: those of `schemas/`, and the few of operations that have none there. */
export function manifestSchemas(resources: readonly Resource[], unknownFields: "refuse" | "allow"): Schemas {
  const files = manifestTypes.flatMap((type) => {
    const schema = schemaFor(type);
    // Aliases, such as `sso-team`, share the schema of the type that it is named after.
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

// What a file names inside stands beside it in the document, under a longer name: few tools follow `$id`.
function hoisted(type: string, file: Json, unknownFields: "refuse" | "allow"): readonly (readonly [string, Schema])[] {
  const { $schema, $id, $defs, ...root } = isObject(file) ? file : {};
  const inner = isObject($defs) ? Object.entries($defs) : [];
  const place = (schema: Json) => placed(schema, type, unknownFields) as Schema;
  return [
    [manifestSchemaName(type), place(root)],
    ...inner.map(([name, schema]) => [innerName(type, name), place(schema)] as const),
  ];
}

function placed(value: Json, type: string, unknownFields: "refuse" | "allow"): Json {
  if (Array.isArray(value)) return value.map((item: Json) => placed(item, type, unknownFields));
  if (!isObject(value)) return value;
  // Whatever is not closed is open, and says so.
  const isOpen = isObject(value.properties) && value.allOf === undefined && value.additionalProperties === undefined;
  const entries = Object.entries(value).flatMap(([key, inner]): readonly (readonly [string, Json])[] => {
    if (key === "$ref" && typeof inner === "string" && inner.startsWith(NAMED_INSIDE)) {
      return [[key, refTo(innerName(type, inner.slice(NAMED_INSIDE.length)))]];
    }
    if (key === "additionalProperties" && inner === false && unknownFields === "allow") return [];
    // What tells forms apart is copied as it is.
    return [[key, key === "if" ? inner : placed(inner, type, unknownFields)]];
  });
  return { ...Object.fromEntries(entries), ...(isOpen && { additionalProperties: true }) };
}

function innerName(type: string, name: string): string {
  return `${pascalCase(type)}${pascalCase(name)}`;
}
