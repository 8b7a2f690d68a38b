import { isObject, type Json, type JsonObject } from "./json.ts";

/**
 * What a manifest type looks like to a comparison: derived from its JSON Schema by `npm run generate`,
 * so that the schema stays the only place where a field is described.
 */
export type Shape =
  | {
      readonly is: "object";
      readonly fields: { readonly [name: string]: Shape };
      /** Whether outputs mask what no field describes. */
      readonly sensitive?: true;
      readonly default?: Json;
    }
  | {
      readonly is: "list";
      readonly items: Shape;
      /** Order carries no meaning; items are matched by these fields, or whole when the list is empty. */
      readonly key?: readonly string[];
      readonly default?: Json;
    }
  /** Anything, and its inside belongs to the user: compared exactly, but for `asText` values. */
  | { readonly is: "free"; readonly asText?: true; readonly sensitive?: Sensitive; readonly default?: Json }
  | { readonly is: "value"; readonly sensitive?: Sensitive; readonly default?: Json };

/** Whether outputs mask the whole field, or inside it only what stands under a secret-looking key. */
export type Sensitive = true | "keys";

/** The manifest with every default of its schema filled in, as the control plane answers it. */
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
