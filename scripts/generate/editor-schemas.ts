import { basename } from "node:path";
import type { SchemaNode } from "../../src/schema/schema-node.ts";
import type { Schemas } from "./schemas.ts";

/** The names of the schemas for editors that the configuration, policies and the shared parts have; no kind has such a name. */
const CONFIG = "_config";
const POLICY = "_policy";
const SHARED = "_shared_";

/** Keywords whose values are names with schemas, and keywords whose values are data. */
const NAMED = new Set(["properties", "patternProperties", "$defs"]);
const DATA = new Set(["const", "enum", "default", "examples", "required"]);

/**
 * The schemas as editors understand them, as the `$defs` of one document: without our own keywords, whose meaning is in
 * descriptions and in lists of values to choose from, and with every reference within the document.
 */
export function editorSchemasText({ files, config, policy }: Schemas): string {
  const shared = files.shared.map(
    ({ $id = "", $defs = {} }) => [`${SHARED}${basename($id, ".json")}`, { $defs }] as const,
  );
  const all = [...shared, ...files.kinds, [CONFIG, config] as const, [POLICY, policy] as const];
  return JSON.stringify({
    $defs: Object.fromEntries(all.map(([name, node]) => [name, within(name, forEditors(node))])),
  });
}

// A reference to another file, or to the schema's own parts, becomes one within the document of all schemas.
function within(name: string, node: SchemaNode): SchemaNode {
  const text = JSON.stringify(node)
    .replaceAll(/"\$ref":"#\//g, `"$ref":"#/$defs/${name}/`)
    .replaceAll(/"\$ref":"shared\/([\w-]+)\.json#\//g, `"$ref":"#/$defs/${SHARED}$1/`);
  return JSON.parse(text) as SchemaNode;
}

function forEditors(node: SchemaNode): SchemaNode {
  const { $schema: _, $id: __, ...rest } = node;
  const later = rest["x-required-after-defaults"] ?? [];
  const required = rest.required?.filter((name) => !later.includes(name)) ?? [];
  const described = {
    ...rest,
    ...(rest.description === undefined ? {} : { description: descriptionOf(rest) }),
    ...(required.length === 0 ? { required: undefined } : { required }),
    ...choicesOf(rest),
  };
  const kept = Object.entries(described).filter(([key, value]) => !key.startsWith("x-") && value !== undefined);
  return Object.fromEntries(kept.map(([key, value]) => [key, DATA.has(key) ? value : below(value, NAMED.has(key))]));
}

function below(value: unknown, isNamed: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => below(item, false));
  if (typeof value !== "object" || value === null) return value;
  if (!isNamed) return forEditors(value as SchemaNode);
  return Object.fromEntries(Object.entries(value).map(([name, node]) => [name, below(node, false)]));
}

function descriptionOf({ description, "x-unit": unit, "x-form": form }: SchemaNode): string {
  return [description, unit && `Unit: ${unit}`, form && `Form: ${form}`].filter(Boolean).join(". ");
}

// Known values are offered; others are allowed.
function choicesOf({ "x-known": known = [] }: SchemaNode): { readonly anyOf?: readonly unknown[] } {
  const values = known.filter((value) => !value.startsWith("*"));
  return values.length === 0 ? {} : { anyOf: [{ enum: values }, {}] };
}
