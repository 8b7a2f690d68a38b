import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { SchemaNode } from "../../src/schema/schema-node.ts";

const LOCAL = "#/$defs/";

/**
 * A schema with every part of another file that it refers to (`shared/application.json#/$defs/resources`) among its own
 * `$defs`, so that whoever reads it finds all of it in one place.
 */
export function bundleSchema(folder: string, schema: SchemaNode): SchemaNode {
  const defs: Record<string, SchemaNode> = {};
  const own = schema.$defs ?? {};

  function take(name: string, node: unknown, file: string | null): void {
    if (Object.hasOwn(defs, name)) return;
    if (file !== null && Object.hasOwn(own, name)) throw new Error(`${schema.$id} and ${file} both have ${name}`);
    // Set beforehand, so that a part may refer to itself.
    defs[name] = {};
    defs[name] = localised(node, file) as SchemaNode;
  }

  function localised(node: unknown, file: string | null): unknown {
    if (Array.isArray(node)) return node.map((item) => localised(item, file));
    if (typeof node !== "object" || node === null) return node;
    return Object.fromEntries(
      Object.entries(node).map(([key, value]) => [
        key,
        key === "$ref" && typeof value === "string" ? reference(value, file) : localised(value, file),
      ]),
    );
  }

  function reference(text: string, file: string | null): string {
    const [path = "", name = ""] = text.split(LOCAL);
    const from = path === "" ? file : join(folder, "shared", basename(path));
    if (from !== null) take(name, partOf(from, name), from);
    return `${LOCAL}${name}`;
  }

  const { $defs: _, ...rest } = schema;
  const whole = localised(rest, null) as SchemaNode;
  for (const [name, node] of Object.entries(own)) take(name, node, null);
  return Object.keys(defs).length === 0 ? whole : { ...whole, $defs: defs };
}

function partOf(file: string, name: string): unknown {
  const { $defs = {} } = JSON.parse(readFileSync(file, "utf8")) as SchemaNode;
  if (!Object.hasOwn($defs, name)) throw new Error(`${file} has no ${name}`);
  return $defs[name];
}
