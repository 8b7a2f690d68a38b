import type { Json } from "../../../src/contract/json.ts";
import type { Schema, Schemas } from "../../../src/server/openapi/json-schema.ts";
import { findUnion, refName, resolveSchema } from "../openapi/read-schema.ts";
import { type Html, html } from "./html.ts";
import { hasSection, inlineCode, typeWords, withFullStop } from "./markup.ts";

/** The fields of an object, with nested fields collapsed; null when it has none. */
export function fieldList(schemas: Schemas, given: Schema, above: readonly string[] = []): Html | null {
  const schema = resolveSchema(schemas, given);
  const fields = Object.entries(schema.properties ?? {}).filter(([, field]) => !isMark(field));
  const required = new Set(schema.required);
  const rows = fields.map(([name, field]) => fieldRow(schemas, name, field, required.has(name), above));
  const forms = variants(schema).map(({ type, form }) => variant(schemas, type, form, above));
  if (rows.length === 0 && forms.length === 0) return null;
  return html`${rows.length === 0 ? null : html`<ul class="fields">${rows}</ul>`}${forms}`;
}

/** One field with its type, limits and nested fields. */
export function fieldRow(
  schemas: Schemas,
  name: string,
  field: Schema,
  isRequired: boolean,
  above: readonly string[] = [],
): Html {
  const { description = "" } = resolveSchema(schemas, field);
  return html`<li><div class="head"><code class="name">${name}</code> <span class="type">${typeWords(schemas, field)}</span>${
    isRequired ? html` <span class="required">required</span>` : null
  }</div>${description === "" ? null : html`<p>${inlineCode(withFullStop(description))}</p>`}${limitText(resolveSchema(schemas, field))}${folded(schemas, field, above)}</li>`;
}

function folded(schemas: Schemas, field: Schema, above: readonly string[]): Html | null {
  const inner = innerObject(schemas, field);
  if (inner === null || above.length > 8) return null;
  const list = fieldList(schemas, inner.schema, [...above, inner.name]);
  return list === null ? null : html`<details><summary>Fields</summary><div class="inside">${list}</div></details>`;
}

/** The object in a field or in the items of its list; null when it has a section of its own, or no fields. */
function innerObject(schemas: Schemas, field: Schema): { readonly name: string; readonly schema: Schema } | null {
  const name = field.$ref === undefined ? "" : refName(field.$ref);
  if (hasSection(name)) return null;
  const schema = resolveSchema(schemas, field);
  if (schema.properties !== undefined || findUnion(schema) !== undefined) return { name, schema };
  const within = schema.items ?? schema.anyOf?.find(({ type }) => type !== "null");
  return within === undefined || field.anyOf?.every(({ $ref }) => $ref !== undefined)
    ? null
    : innerObject(schemas, within);
}

function variants(schema: Schema): readonly { readonly type: string; readonly form: Schema }[] {
  return Object.entries(findUnion(schema)?.discriminator?.mapping ?? {}).map(([type, $ref]) => ({
    type,
    form: { $ref },
  }));
}

function variant(schemas: Schemas, type: string, form: Schema, above: readonly string[]): Html {
  const name = form.$ref === undefined ? "" : refName(form.$ref);
  if (hasSection(name)) {
    return html`<p class="variant">With <code>type: ${type}</code> it is a ${typeWords(schemas, form)}.</p>`;
  }
  const list = fieldList(schemas, form, above);
  return list === null ? html`` : html`<p class="variant">With <code>type: ${type}</code>:</p>${list}`;
}

// In a variant, `type` is only the discriminator, which the union shows.
function isMark({ const: only, description }: Schema): boolean {
  return only !== undefined && description === undefined;
}

/** The constraints of a value beyond its type: default, bounds, form and known values. */
function limitText(schema: Schema): Html | null {
  const words = [
    ...("default" in schema ? [html`default <code>${text(schema.default)}</code>`] : []),
    ...bounds(schema),
    ...(schema["x-unit"] === undefined ? [] : [html`${schema["x-unit"]}`]),
    ...(schema["x-form"] === undefined ? [] : [html`${schema["x-form"]}`]),
    ...values("one of", schema.enum),
    ...values("known", schema["x-known"]),
  ];
  return words.length === 0
    ? null
    : html`<p class="limits">${words.map((word, at) => (at === 0 ? word : html` · ${word}`))}</p>`;
}

function bounds({
  minimum,
  maximum,
  exclusiveMinimum,
  minItems,
  maxItems,
  minLength,
  maxLength,
  ...rest
}: Schema): readonly Html[] {
  return [
    ...range(minimum ?? (exclusiveMinimum === undefined ? undefined : `> ${exclusiveMinimum}`), maximum, ""),
    ...range(minItems, maxItems, " items"),
    // The described form includes it.
    ...(rest["x-form"] === undefined && rest.enum === undefined ? range(minLength, maxLength, " characters") : []),
  ];
}

function range(low: number | string | undefined, high: number | undefined, unit: string): readonly Html[] {
  const top = high === Number.MAX_SAFE_INTEGER ? undefined : high;
  if (low === undefined && top === undefined) return [];
  if (top === undefined) return low === 0 && unit !== "" ? [] : [html`at least ${String(low)}${unit}`];
  return low === undefined ? [html`at most ${count(top)}${unit}`] : [html`${String(low)} to ${count(top)}${unit}`];
}

function count(number: number): string {
  return number.toLocaleString("en");
}

function values(lead: string, all: readonly Json[] | undefined): readonly Html[] {
  if (all === undefined) return [];
  return [html`${lead} ${all.map((value, at) => html`${at === 0 ? "" : " "}<code>${text(value)}</code>`)}`];
}

function text(value: Json | undefined): string {
  return typeof value === "string" && value !== "" ? value : JSON.stringify(value ?? null);
}
