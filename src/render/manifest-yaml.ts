import { isObject, type Json, type JsonObject } from "../contract/json.ts";
import { fieldAt, type SchemaNode } from "../schema/schema-node.ts";
import { wrapWords } from "./wrap.ts";

/** What is written above the field at some place of a manifest: nothing, or sentences. */
type CommentOf = (tokens: readonly string[]) => string | null;

const WIDTH = 80;
const MOST_KNOWN = 8;

/** A manifest as YAML: block style, in the order of its fields, with a comment above each field that has one. */
export function manifestYaml(manifest: JsonObject, commentOf: CommentOf = () => null): string {
  return `${fieldLines(manifest, [], commentOf).join("\n")}\n`;
}

/** Comments from a schema: what a field is for, its unit, what it may be, and what it is when it is left out. */
export function schemaComments(schema: SchemaNode, manifest: JsonObject): CommentOf {
  return (tokens) => {
    const { node } = fieldAt(schema, manifest, tokens);
    // The kind needs no explanation.
    if (node?.description === undefined || (tokens.length === 1 && tokens[0] === "type")) return null;
    const { "x-unit": unit, "x-known": known = [], "x-form": form, default: byDefault } = node;
    const rest = known.length > MOST_KNOWN ? " …" : "";
    const choices = known.length > 1 ? `Known: ${known.slice(0, MOST_KNOWN).join(", ")}${rest}` : "";
    return [
      node.description,
      unit === undefined ? "" : `Unit: ${unit}`,
      choices,
      form === undefined ? "" : `Form: ${form}`,
      typeof byDefault === "object" || byDefault === undefined ? "" : `Default: ${JSON.stringify(byDefault)}`,
    ]
      .filter((part) => part !== "")
      .join(". ");
  };
}

function fieldLines(value: JsonObject, tokens: readonly string[], commentOf: CommentOf): readonly string[] {
  return Object.entries(value).flatMap(([name, field = null]) => {
    const path = [...tokens, name];
    const comment = commentOf(path);
    const key = scalar(name);
    const above = comment === null ? [] : wrapWords(comment, { indent: "# ", width: WIDTH - 2 * tokens.length });
    if (Array.isArray(field) && field.length > 0)
      return [...above, `${key}:`, ...indented(itemLines(field, path, commentOf))];
    if (isObject(field) && Object.keys(field).length > 0) {
      return [...above, `${key}:`, ...indented(fieldLines(field, path, commentOf))];
    }
    return [...above, `${key}: ${leaf(field)}`];
  });
}

function itemLines(list: readonly Json[], tokens: readonly string[], commentOf: CommentOf): readonly string[] {
  return list.flatMap((item, at) => {
    if (!isObject(item) || Object.keys(item).length === 0) return [`- ${leaf(item)}`];
    const lines = fieldLines(item, [...tokens, String(at)], commentOf);
    const first = lines.findIndex((line) => !line.startsWith("#"));
    return lines.map((line, nth) => (nth < first ? line : nth === first ? `- ${line}` : `  ${line}`));
  });
}

function indented(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `  ${line}`);
}

// A list in a list is written as JSON, which is YAML too.
function leaf(value: Json): string {
  return typeof value === "string" ? scalar(value) : JSON.stringify(value);
}

const PLAIN = /^[A-Za-z_/](?:[\w./@+=-]|:(?=[\w./])| (?=[\w(/]))*$/;
const RESERVED = /^(?:true|false|null|yes|no|on|off|y|n)$/i;

function scalar(text: string): string {
  return PLAIN.test(text) && !RESERVED.test(text) ? text : JSON.stringify(text);
}
