import type { Json } from "../../../contract/json.ts";
import { type Html, html } from "../../../http/html.ts";
import type { OpenApiDocument } from "../../openapi/document-types.ts";
import { findUnion, type Schema, type Schemas } from "../../openapi/schemas/json-schema.ts";
import { sampleValue } from "../../openapi/schemas/sample-value.ts";
import { fieldList } from "./field-list.ts";
import { jsonCode } from "./json-code.ts";
import { schemaAnchor } from "./page-sections.ts";
import { paragraphs, withFullStop } from "./paragraphs.ts";
import { typeWords } from "./type-words.ts";

/** The section of a named schema: its fields and an example. */
export function schemaSection({ components: { schemas } }: OpenApiDocument, name: string, schema: Schema): Html {
  const { anyOf, description = "" } = schema;
  const hasFields = anyOf === undefined || findUnion(schema) !== undefined;
  const anchor = schemaAnchor(name);
  const fields = hasFields ? fieldList(schemas, schema) : html`<p>${typeWords(schemas, schema)}</p>`;
  return html`<section class="operation schema" id="${anchor}">
<div class="words"><h3><a href="#${anchor}">${name}</a></h3>${paragraphs(withFullStop(description))}${fields}</div>
<div class="code">${examples(schemas, name, schema)}</div>
</section>
`;
}

function examples(schemas: Schemas, name: string, schema: Schema): readonly Html[] {
  const { examples: given, ...described } = schema;
  const whole = sampleValue(schemas, described, [name]);
  const [short] = given ?? [];
  if (short === undefined) return [pane("Example", whole)];
  if (size(whole) <= size(short)) return [pane("Example", short)];
  return [pane("Shortest", short), pane("With more of its fields", whole)];
}

function pane(title: string, value: Json): Html {
  return html`<figure><figcaption>${title}</figcaption><pre tabindex="0"><code>${jsonCode(value)}</code></pre></figure>`;
}

function size(value: Json): number {
  return JSON.stringify(value).length;
}
