import { type Html, html } from "../../../http/html.ts";
import {
  findUnion,
  openApiTypes,
  refName,
  resolveSchema,
  type Schema,
  type Schemas,
} from "../../openapi/schemas/json-schema.ts";
import { hasSection, schemaAnchor } from "./page-sections.ts";

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
