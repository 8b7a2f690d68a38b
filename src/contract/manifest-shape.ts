import { isObject, type Json, type JsonObject } from "./json.ts";

/**
 * How manifests of a type are compared. It is generated from the type's JSON Schema by `npm run generate`, so that each
 * field is described only in the schema.
 */
export type Shape =
  | {
      readonly is: "object";
      readonly fields: { readonly [name: string]: Shape };
      /** Whether outputs mask fields that are not described. */
      readonly sensitive?: true;
      readonly default?: Json;
    }
  | {
      readonly is: "list";
      readonly items: Shape;
      /** The order of items is irrelevant. Items are matched by these fields, or as a whole when `key` is empty. */
      readonly key?: readonly string[];
      readonly default?: Json;
    }
  /** Any value whose content belongs to the user. It is compared exactly, except `asText` values. */
  | { readonly is: "free"; readonly asText?: true; readonly sensitive?: Sensitive; readonly default?: Json }
  /** `version`: it says which version of something is used, such as an image; a promotion copies it. */
  | { readonly is: "value"; readonly sensitive?: Sensitive; readonly version?: true; readonly default?: Json };

/** What outputs mask: the whole field, or only the values of secret-looking keys in it. */
export type Sensitive = true | "keys";

/** The manifest with every default of its schema filled in, as the control plane returns it. */
export function fillDefaults(shape: Shape, value: Json): Json {
  if (shape.is === "list" && Array.isArray(value)) return value.map((item: Json) => fillDefaults(shape.items, item));
  if (shape.is !== "object" || !isObject(value)) return value;
  const filled: Record<string, Json> = { ...value };
  for (const [name, field] of Object.entries(shape.fields)) {
    const given = filled[name] ?? field.default;
    if (given !== undefined && given !== null) filled[name] = fillDefaults(field, given);
  }
  return filled satisfies JsonObject;
}
