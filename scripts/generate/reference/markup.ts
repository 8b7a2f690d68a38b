import type { Json } from "../../../src/contract/json.ts";
import type { Schema, Schemas } from "../../../src/server/openapi/json-schema.ts";
import { replySchemas } from "../openapi/component-schemas.ts";
import { findUnion, openApiTypes, refName, resolveSchema } from "../openapi/read-schema.ts";
import { type Html, html } from "./html.ts";

const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** A text with `code` in backticks. */
export function inlineCode(text: string): Html {
  const pieces = text.split("`").map((piece, at) => (at % 2 === 1 ? html`<code>${piece}</code>` : html`${piece}`));
  return html`${pieces}`;
}

/** A text whose paragraphs are separated by blank lines. */
export function paragraphs(text: string): Html {
  return html`${text.split("\n\n").map((paragraph) => html`<p>${inlineCode(withFullStop(paragraph))}</p>`)}`;
}

/** A text that ends with a full stop. */
export function withFullStop(text: string): string {
  return /[.:!?]$/.test(text) ? text : `${text}.`;
}

/** JSON with syntax highlighting: keys, strings and other values have different classes. */
export function jsonCode(value: Json): Html {
  const text = JSON.stringify(value, null, 2);
  const pieces: Html[] = [];
  let end = 0;
  for (const match of text.matchAll(TOKEN)) {
    const [token, quoted = "", colon = ""] = match;
    pieces.push(html`${text.slice(end, match.index)}`);
    if (colon !== "") pieces.push(html`<span class="k">${quoted}</span>${colon}`);
    else pieces.push(html`<span class="${quoted === "" ? "v" : "s"}">${token}</span>`);
    end = match.index + token.length;
  }
  return html`${pieces}${text.slice(end)}`;
}

/** The type of a value as text, with links to sections of schemas. */
export function typeWords(schemas: Schemas, schema: Schema): Html {
  if (schema.$ref !== undefined) {
    const name = refName(schema.$ref);
    if (hasSection(name)) return html`<a href="#${schemaAnchor(name)}">${name}</a>`;
    return typeWords(schemas, resolveSchema(schemas, schema));
  }
  if (findUnion(schema) !== undefined) return isNullable(schema) ? html`object or null` : html`object`;
  if (schema.anyOf !== undefined) return alternatives(schema.anyOf.map((one) => typeWords(schemas, one)));
  if (schema.const !== undefined) return html`${JSON.stringify(schema.const)}`;
  const types = openApiTypes(schema).map((type) => singleType(schemas, schema, type));
  return types.length === 0 ? html`any` : alternatives(types);
}

function isNullable({ anyOf = [] }: Schema): boolean {
  return anyOf.some(({ type }) => type === "null");
}

function singleType(schemas: Schemas, { items, format }: Schema, type: string): Html {
  if (type === "array") return items === undefined ? html`array` : html`array of ${typeWords(schemas, items)}`;
  return format === "date-time" && type === "string" ? html`timestamp` : html`${type}`;
}

function alternatives(words: readonly Html[]): Html {
  return html`${words.map((word, at) => (at === 0 ? word : html` <span class="or">or</span> ${word}`))}`;
}

/** Whether a named schema is a resource in replies. */
export function isResource(name: string): boolean {
  return Object.hasOwn(replySchemas, name);
}

/** Whether a named schema has its own section; others are shown where they are used. */
export function hasSection(name: string): boolean {
  return isResource(name) || name.endsWith("Manifest");
}

/** The anchor of a named schema in the page. */
export function schemaAnchor(name: string): string {
  return `schema-${name}`;
}

/** The anchor of a heading in the page. */
export function headingAnchor(title: string): string {
  return title.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
}
