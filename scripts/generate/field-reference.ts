import { rangeWords, typeWords } from "../../src/schema/field-words.ts";
import { resolveRef, type SchemaNode, unionVariants } from "../../src/schema/schema-node.ts";
import type { Schemas } from "./schemas.ts";

type Row = { readonly path: string; readonly node: SchemaNode; readonly required: boolean };

const HEAD = `# Fields of every manifest

Generated from [\`schemas/\`](../schemas) by \`npm run generate\`; [editors](editors.md) use schemas made from the same files.

- Each kind begins with a minimal and a complete example, those of \`holdfast new KIND\` and \`holdfast new KIND --full\`.
- **Path**: \`[]\` stands for an item of a list, \`<name>\` for any name, \`(x)\` for the form of a field whose \`type\` is \`x\`.
- An optional field that is \`null\` is the same as an absent one.
- *Known values* are offered and checked as warnings: others are passed on. A \`*\` in front stands for anything before the rest.
- *Free* fields belong to you and the platform: anything is allowed inside.
- *Order-free* lists are compared as sets, or item by item by the fields named.
`;

/** The examples of a type of manifest, as YAML. */
type ExamplesOf = (type: string) => { readonly minimal: string; readonly full: string };

/** Text of `docs/schemas.md`; the examples are those that `holdfast new` prints. */
export function fieldReferenceText({ kinds, config, policy }: Schemas, examplesOf: ExamplesOf): string {
  const parts = [...kinds].map(([type, schema]) => section(`\`${type}\``, schema, exampleLines(examplesOf(type))));
  const others = [section("`holdfast.yaml`", config), section("A policy", policy)];
  return `${[HEAD, ...parts, ...others].join("\n")}`;
}

function exampleLines({ minimal, full }: ReturnType<ExamplesOf>): readonly string[] {
  const yaml = (text: string) => ["```yaml", text.trimEnd(), "```", ""];
  return [...yaml(minimal), "<details><summary>With every field</summary>", "", ...yaml(full), "</details>", ""];
}

function section(name: string, schema: SchemaNode, examples: readonly string[] = []): string {
  const rows = rowsOf(schema, schema, "").map(line);
  return [
    `## ${name}`,
    "",
    `${schema.description}.`,
    "",
    ...examples,
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
    typeText(node),
    node["x-unit"] ?? "",
    fallback,
    words(node),
  ];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll("\n", " ")).join(" | ")} |`;
}

function typeText(node: SchemaNode): string {
  if (node.const !== undefined) return `\`${node.const}\``;
  const values = node.enum?.filter((value) => value !== null);
  return values?.map((value) => `\`${value}\``).join(", ") ?? typeWords(node);
}

function words(node: SchemaNode): string {
  const known =
    node["x-known"] === undefined ? "" : ` Known values: ${node["x-known"].map((value) => `\`${value}\``).join(", ")}.`;
  const range = rangeWords(node);
  const form = node["x-form"] === undefined ? "" : ` Form: ${node["x-form"]}.`;
  return `${node.description ?? ""}.${known}${form}${range}`;
}
