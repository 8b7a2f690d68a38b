import { schemaTexts } from "./generated/schemas.ts";
import type { SchemaNode } from "./schema-node.ts";

const read = new Map<string, SchemaNode>();

/** What the schema of all applications, of whatever type, is found under. */
export const applicationSchema = "*application";

/** Every `type` that a manifest may have, aliases such as `sso-team` included. */
export const manifestTypes: readonly string[] = Object.keys(schemaTexts).filter(
  (name) => name !== "config" && name !== applicationSchema,
);

/** The JSON Schema of a manifest type, or of the configuration under `config`; undefined for any other name. */
export function schemaFor(type: string): SchemaNode | undefined {
  const text = Object.hasOwn(schemaTexts, type) ? schemaTexts[type] : undefined;
  if (text === undefined) return undefined;
  const schema = read.get(type) ?? (JSON.parse(text) as SchemaNode);
  read.set(type, schema);
  return schema;
}
