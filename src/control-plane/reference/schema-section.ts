import type { OpenApiDocument } from "../openapi/openapi.ts";
import { sample } from "../openapi/sample.ts";
import type { Schema } from "../openapi/schema.ts";
import { schemaAnchor } from "./anchor.ts";
import { fieldList } from "./field-list.ts";
import { type Html, html } from "./html.ts";
import { jsonCode } from "./json-code.ts";
import { prose, withStop } from "./prose.ts";
import { typeWords } from "./type-words.ts";

/** The section of a named schema: its fields, and an example. */
export function schemaSection({ components: { schemas } }: OpenApiDocument, name: string, schema: Schema): Html {
  const { anyOf, description = "" } = schema;
  const anchor = schemaAnchor(name);
  return html`<section class="operation schema" id="${anchor}">
<div class="words"><h3><a href="#${anchor}">${name}</a></h3>${prose(withStop(description))}${
    anyOf === undefined ? fieldList(schemas, schema) : html`<p>${typeWords(schemas, schema)}</p>`
  }</div>
<div class="code"><figure><figcaption>Example</figcaption><pre tabindex="0"><code>${jsonCode(sample(schemas, schema, [name]))}</code></pre></figure></div>
</section>
`;
}
