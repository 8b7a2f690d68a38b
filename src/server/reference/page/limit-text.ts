import type { Json } from "../../../contract/json.ts";
import { type Html, html } from "../../../http/html.ts";
import type { Schema } from "../../openapi/schemas/json-schema.ts";

/** The constraints of a value beyond its type: default, bounds, form and known values. */
export function limitText(schema: Schema): Html | null {
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
