import { canonical, type Json } from "../../src/contract/json.ts";
import type { Shape } from "../../src/contract/manifest-shape.ts";
import { allowedTypes, resolveRef, type SchemaNode, unionVariants } from "../../src/schema/schema-node.ts";
import { type Schemas, typeNames } from "./schemas.ts";

/** Source text of `src/contract/generated/shapes.ts`. */
export function shapesText({ kinds }: Schemas): string {
  const rows = [...kinds].flatMap(([type, schema]) => {
    const shape = JSON.stringify(shapeOf(schema, schema));
    return typeNames(type, schema).map((name) => `  ${JSON.stringify(name)}: ${shape},`);
  });
  return [
    'import type { Shape } from "../manifest-shape.ts";',
    "",
    "/** How each type of manifest is compared, masked and filled with defaults. */",
    "export const shapes: { readonly [type: string]: Shape } = {",
    ...rows,
    "};",
    "",
  ].join("\n");
}

function shapeOf(schema: SchemaNode, given: SchemaNode): Shape {
  const node = resolveRef(schema, given);
  const filled = node.default === undefined ? {} : { default: node.default as Json };
  const sensitive = node["x-sensitive"] === undefined ? {} : { sensitive: node["x-sensitive"] };
  if (node["x-free"] || node["x-as-text"]) {
    return { is: "free", ...(node["x-as-text"] ? { asText: true } : {}), ...sensitive, ...filled };
  }
  // A field that takes both is compared as it stands.
  if (allowedTypes(node).includes("object") && allowedTypes(node).includes("array"))
    return { ...FREE, ...sensitive, ...filled };
  if (allowedTypes(node).includes("object")) {
    const hidden = node["x-sensitive"] === true ? { sensitive: true as const } : {};
    return { is: "object", fields: fieldsOf(schema, node), ...hidden, ...filled };
  }
  if (node.items !== undefined) {
    const key = node["x-set"] ? [] : node["x-key"];
    return { is: "list", items: shapeOf(schema, node.items), ...(key === undefined ? {} : { key }), ...filled };
  }
  return { is: "value", ...sensitive, ...(node["x-version"] ? { version: true as const } : {}), ...filled };
}

function fieldsOf(schema: SchemaNode, node: SchemaNode): { readonly [name: string]: Shape } {
  const fields: Record<string, Shape> = {};
  for (const { properties } of [node, ...unionVariants(schema, node).map((variant) => variant.node)]) {
    for (const [name, property] of Object.entries(properties ?? {})) {
      const shape = shapeOf(schema, property);
      const known = fields[name];
      fields[name] = known === undefined ? shape : merged(known, shape);
    }
  }
  return fields;
}

// A field that two variants describe differently is compared exactly, like any other free one, and hidden if one says so.
function merged(one: Shape, other: Shape): Shape {
  if (canonical(one as Json) === canonical(other as Json)) return one;
  if (one.is === "object" && other.is === "object" && one.default === undefined && other.default === undefined) {
    const shared = Object.entries(other.fields).map(([name, field]) => {
      const known = one.fields[name];
      return [name, known === undefined ? field : merged(known, field)] as const;
    });
    const hidden = hides(one) || hides(other) ? { sensitive: true as const } : {};
    return { is: "object", fields: { ...one.fields, ...Object.fromEntries(shared) }, ...hidden };
  }
  return hides(one) || hides(other) ? { ...FREE, sensitive: true } : FREE;
}

const hides = (shape: Shape) => "sensitive" in shape && shape.sensitive === true;

const FREE = { is: "free" } as const;
