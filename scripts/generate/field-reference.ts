import { allowedTypes, resolveRef, type SchemaNode, unionVariants } from "../../src/schema/schema-node.ts";
import type { Schemas } from "./schemas.ts";

type Row = { readonly path: string; readonly node: SchemaNode; readonly required: boolean };

const HEAD = `# Fields of every manifest

Generated from [\`schemas/\`](../schemas) by \`npm run generate\`; [editors](editors.md) use schemas made from the same files.

- **Path**: \`[]\` stands for an item of a list, \`<name>\` for any name, \`(x)\` for the form of a field whose \`type\` is \`x\`.
- An optional field that is \`null\` is the same as an absent one.
- *Known values* are offered and checked as warnings: others are passed on. A \`*\` in front stands for anything before the rest.
- *Free* fields belong to you and the platform: anything is allowed inside.
- *Order-free* lists are compared as sets, or item by item by the fields named.
`;

/** Text of `docs/schemas.md`. */
export function fieldReferenceText({ kinds, config }: Schemas): string {
  const parts = [...kinds].map(([type, schema]) => section(`\`${type}\``, schema));
  return `${[HEAD, ...parts, section("`holdfast.yaml`", config)].join("\n")}`;
}

function section(name: string, schema: SchemaNode): string {
  const rows = rowsOf(schema, schema, "").map(line);
  return [
    `## ${name}`,
    "",
    `${schema.description}.`,
    "",
    "| Path | Type | Unit | Default | Description |",
    "|---|---|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}

function rowsOf(schema: SchemaNode, given: SchemaNode, path: string): readonly Row[] {
  const node = resolveRef(schema, given);
  const own = Object.entries(node.properties ?? {}).flatMap(([name, property]) => {
    if (Object.keys(property).length === 1 && property.const !== undefined) return [];
    const field = resolveRef(schema, property);
    const at = path === "" ? name : `${path}.${name}`;
    return [{ path: at, node: field, required: node.required?.includes(name) ?? false }, ...rowsOf(schema, field, at)];
  });
  const patterns = Object.entries(node.patternProperties ?? {}).map(([, property]) => ({
    path: `${path}.<name>_url`,
    node: { description: "Any further address", ...property },
    required: false,
  }));
  const branches = unionVariants(schema, node).flatMap(({ type, node: form }) =>
    rowsOf(schema, form, `${path}(${type})`),
  );
  const items = node.items === undefined ? [] : rowsOf(schema, node.items, `${path}[]`);
  return [...own, ...patterns, ...branches, ...items];
}

function line({ path, node, required }: Row): string {
  const fallback = node.default === undefined ? "" : `\`${JSON.stringify(node.default)}\``;
  const cells = [
    `\`${path}\`${required ? " **required**" : ""}`,
    typeWords(node),
    node["x-unit"] ?? "",
    fallback,
    words(node),
  ];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll("\n", " ")).join(" | ")} |`;
}

function typeWords(node: SchemaNode): string {
  if (node.const !== undefined) return `\`${node.const}\``;
  if (node.enum !== undefined)
    return node.enum
      .filter((value) => value !== null)
      .map((value) => `\`${value}\``)
      .join(", ");
  const types = allowedTypes(node).map((type) => (type === "array" ? `list${itemWords(node)}` : type));
  const free = node["x-free"] ? " (free)" : node["x-as-text"] ? " of texts" : "";
  return types.join(" or ") + free;
}

function itemWords({ items, "x-set": set, "x-key": key }: SchemaNode): string {
  const inner = items === undefined ? [] : allowedTypes(items);
  const order = set ? ", order-free" : key === undefined ? "" : `, order-free by ${key.join(" and ")}`;
  return `${inner.length === 1 ? ` of ${inner[0]}s` : ""}${order}`;
}

function words(node: SchemaNode): string {
  const known =
    node["x-known"] === undefined ? "" : ` Known values: ${node["x-known"].map((value) => `\`${value}\``).join(", ")}.`;
  const range = rangeWords(node);
  const form = node["x-form"] === undefined ? "" : ` Form: ${node["x-form"]}.`;
  return `${node.description ?? ""}.${known}${form}${range}`;
}

function rangeWords({ minimum, exclusiveMinimum, maximum, minItems }: SchemaNode): string {
  const least = minItems === undefined ? "" : ` At least ${minItems} ${minItems === 1 ? "item" : "items"}.`;
  if (exclusiveMinimum !== undefined) return ` More than ${exclusiveMinimum}, at most ${maximum}.${least}`;
  if (minimum === undefined || maximum === undefined || maximum === 2147483647)
    return minimum ? ` At least ${minimum}.${least}` : least;
  return ` ${minimum} to ${maximum}.${least}`;
}
