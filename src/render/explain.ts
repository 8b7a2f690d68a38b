import type { ExplainedPart, ExplainReport, FieldFacts } from "../contract/generated/output.ts";
import type { Json, JsonObject } from "../contract/json.ts";
import { FORMAT_VERSION } from "../core/format-version.ts";
import type { ExplainedField } from "../schema/explain-field.ts";
import { rangeWords, typeWords } from "../schema/field-words.ts";
import type { SchemaNode } from "../schema/schema-node.ts";
import { manifestYaml } from "./manifest-yaml.ts";
import { linesText } from "./wrap.ts";

/** What is explained: a kind, or `config`, and the path of a field in it; empty for the kind itself. */
export type Explained = { readonly kind: string; readonly path: string; readonly fields: readonly ExplainedField[] };

/** The explanation as text, within a width. */
export function explainText({ kind, fields }: Explained, width: number): string {
  return fields.map((field) => fieldText(kind, field, width)).join("\n");
}

function fieldText(kind: string, { path, node, isRequired, fields, forms }: ExplainedField, width: number): string {
  const name = path === "" ? kind : `${kind}.${path}`;
  const head = `${name} <${typeText(node)}>${isRequired && path !== "" ? " required" : ""}`;
  const text = (words: string, indent: string) => linesText(words, { indent, width });
  const facts = factsOf(node).map(([label, fact]) => {
    return linesText(`${label}: ${fact}`, { indent: "  ", nextIndent: "    ", width });
  });
  const later = node["x-required-after-defaults"] ?? [];
  const list = (all: readonly ExplainedField[], indent: string) =>
    all.map((field) => lineOf(field, later, indent) + text(`${field.node.description}.`, `${indent}    `)).join("");
  const below = fields.length === 0 ? "" : `\n  Fields:\n${list(fields, "    ")}`;
  const shapes = forms.map(({ type, node, fields }) => {
    return `\n  Form ${type}:\n${text(`${node.description}.`, "    ")}${list(fields, "    ")}`;
  });
  return [
    linesText(head, { indent: "", nextIndent: "  ", width }),
    text(`${node.description}.`, "  "),
    ...facts,
    exampleText(path, node),
    below,
    ...shapes,
  ].join("");
}

function lineOf({ path, node, isRequired }: ExplainedField, later: readonly string[], indent: string): string {
  const required = later.includes(path) ? " required, a default may supply it" : " required";
  return `${indent}${path} <${typeText(node)}>${isRequired ? required : ""}\n`;
}

function typeText(node: SchemaNode): string {
  if (node.const !== undefined) return JSON.stringify(node.const);
  return node.enum === undefined ? typeWords(node) || "any" : "enumeration";
}

function factsOf(node: SchemaNode): readonly (readonly [label: string, fact: string])[] {
  const { "x-unit": unit, "x-form": form, "x-known": known, enum: values, default: byDefault } = node;
  const limits = limitsText(node);
  return [
    ...(unit === undefined ? [] : [["Unit", unit] as const]),
    ...(byDefault === undefined ? [] : [["Default", JSON.stringify(byDefault)] as const]),
    ...(limits === "" ? [] : [["Limits", limits] as const]),
    ...(form === undefined ? [] : [["Form", form] as const]),
    ...(values === undefined ? [] : [["Values", values.filter((value) => value !== null).join(", ")] as const]),
    ...(known === undefined ? [] : [["Known values", known.join(", ")] as const]),
    ...(node["x-sensitive"] === undefined ? [] : [["Sensitive", "no output shows it"] as const]),
  ];
}

// As it stands in a manifest; that of a kind is a whole one.
function exampleText(path: string, { examples: [example] = [] }: SchemaNode): string {
  if (example === undefined) return "";
  const name =
    path
      .split(".")
      .at(-1)
      ?.replaceAll(/\[\]|\(.*\)/g, "") ?? "";
  const yaml = manifestYaml(path === "" ? (example as JsonObject) : { [name]: example as Json });
  return `  Example:\n${yaml.replaceAll(/^(?=.)/gm, "    ")}`;
}

function limitsText(node: SchemaNode): string {
  const { minLength = 0, maxLength, maxItems } = node;
  const length = maxLength === undefined ? "" : ` ${minLength} to ${maxLength} characters.`;
  const items = maxItems === undefined ? "" : ` At most ${maxItems} items.`;
  return `${rangeWords(node)}${length}${items}`.trim().replace(/\.$/, "");
}

/** The explanation as the document of `-o json`. */
export function explainReport(
  { kind, path, fields }: Explained,
  diagnostics: ExplainReport["diagnostics"],
): ExplainReport {
  return { format_version: FORMAT_VERSION, kind, path, fields: fields.map(reportPart), diagnostics };
}

function reportPart({ fields, forms, ...field }: ExplainedField): ExplainedPart {
  return {
    field: factsForPrograms(field),
    fields: fields.map(factsForPrograms),
    forms: forms.map(({ type, node: { description = "" }, fields: own }) => {
      return { type, description, fields: own.map(factsForPrograms) };
    }),
  };
}

function factsForPrograms({
  path,
  node,
  isRequired,
}: Pick<ExplainedField, "path" | "node" | "isRequired">): FieldFacts {
  const { description = "", "x-unit": unit = null, "x-form": form = null, default: byDefault = null } = node;
  return {
    ...{ path, type: typeText(node), required: isRequired, description, unit, form },
    default: byDefault as Json,
    limits: limitsText(node) || null,
    values: node.enum?.filter((value) => value !== null).map(String) ?? null,
    knownValues: node["x-known"] ?? null,
    sensitive: node["x-sensitive"] !== undefined,
    examples: (node.examples ?? []) as readonly Json[],
  };
}
