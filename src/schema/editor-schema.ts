import { schemaTypes } from "./generated/types.ts";
import type { SchemaNode } from "./schema-node.ts";
import { editorSchemas, manifestTypes, schemaFor } from "./schemas.ts";

/** The name under which a repository keeps the schema of its manifests for editors. */
export const EDITOR_SCHEMA_FILE = ".holdfast.schema.json";

/** An address of its own would need a host that answers. */
const ID = "urn:holdfast:schema";
// Newer drafts are not known to every editor, and nothing here needs them.
const DRAFT = "http://json-schema.org/draft-07/schema#";
const PART = /"#\/\$defs\/([\w-]+)/g;

/** The content of that file. */
export function editorSchemaText(schema: SchemaNode = manifestEditorSchema()): string {
  return `${JSON.stringify(schema, null, 2)}\n`;
}

/** The line of a manifest that names its schema for editors, by a path relative to the manifest. */
export function modeline(schema: string): string {
  return `# yaml-language-server: $schema=${schema}\n`;
}

/** The schema that editors check and complete manifests of every kind with. */
export function manifestEditorSchema(): SchemaNode {
  const files = [...new Set(manifestTypes.map(fileOf))];
  return document("manifest", files, {
    title: "Holdfast manifest",
    type: "object",
    required: ["type"],
    properties: { type: { description: "Kind of manifest", enum: manifestTypes } },
    allOf: files.map((file) => ({
      if: { required: ["type"], properties: { type: { enum: manifestTypes.filter((type) => fileOf(type) === file) } } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { $ref: `#/$defs/${file}` },
    })),
  });
}

/** The schema for editors of one type of manifest, of the configuration (`config`) or of policies (`policy`); undefined for any other name. */
export function editorSchemaFor(name: string): SchemaNode | undefined {
  const isOther = name === "config" || name === "policy";
  const file = isOther ? `_${name}` : manifestTypes.includes(name) ? fileOf(name) : undefined;
  return file === undefined ? undefined : document(name, [file], { $ref: `#/$defs/${file}` });
}

function fileOf(type: string): string {
  return schemaTypes[type]?.file ?? type;
}

function document(name: string, files: readonly string[], root: SchemaNode): SchemaNode {
  const all = schemaFor(editorSchemas)?.$defs ?? {};
  const needed = new Set(files);
  // A set that grows while it is iterated over also yields what is added.
  for (const part of needed) for (const [, other = ""] of JSON.stringify(all[part]).matchAll(PART)) needed.add(other);
  const $defs = Object.fromEntries(Object.entries(all).filter(([part]) => needed.has(part)));
  return { $schema: DRAFT, $id: `${ID}:${name}`, ...root, $defs };
}
