import type { Json, JsonObject } from "../../contract/json.ts";
import type { Timestamp } from "../../contract/resources.ts";
import { refTo, type Schema, typesOf } from "./schema.ts";

declare const meant: unique symbol;

/** The schema of a `Value`: the compiler holds every schema of a resource to the type that it describes. */
export type Form<Value> = { readonly schema: Schema; readonly [meant]?: (value: Value) => Value };

/** The forms of an object's fields; one that is missing, or too many, does not compile. */
export type Fields<Value> = { readonly [Name in keyof Value]-?: Form<Exclude<Value[Name], undefined>> };

type Words = Pick<Schema, "format" | "x-unit" | "minimum">;

/** A text. */
export function text(description: string, example: string, words: Words = {}): Form<string> {
  return { schema: { description, type: "string", ...words, examples: [example] } };
}

/** A text of which some values are known. */
export function oneOfMany(description: string, known: readonly [string, ...string[]]): Form<string> {
  return { schema: { description, type: "string", "x-known": known, examples: [known[0]] } };
}

/** One of these texts and no other. */
export function oneOf<Value extends string>(description: string, values: readonly [Value, ...Value[]]): Form<Value> {
  return { schema: { description, type: "string", enum: values, examples: [values[0]] } };
}

/** An opaque id. */
export function id(of: string): Form<string> {
  return text(`Id of the ${of}, an opaque text`, "019aa2c4-7f5e-7c3b-9d1e-4b8a52f0c6d1");
}

/** A moment. */
export function moment(description: string): Form<Timestamp> {
  return text(description, "2026-11-21T09:30:00.000Z", { format: "date-time" });
}

/** A whole number. */
export function integer(description: string, example: number, words: Words = {}): Form<number> {
  return { schema: { description, type: "integer", ...words, examples: [example] } };
}

/** A number. */
export function number(description: string, example: number, words: Words = {}): Form<number> {
  return { schema: { description, type: "number", ...words, examples: [example] } };
}

/** Yes or no. */
export function boolean(description: string, example: boolean): Form<boolean> {
  return { schema: { description, type: "boolean", examples: [example] } };
}

/** A list. */
export function list<Item>(description: string, items: Form<Item>): Form<readonly Item[]> {
  return { schema: { description, type: "array", items: items.schema } };
}

/** An object whose inside the interface leaves open. */
export function free(description: string, example: JsonObject): Form<JsonObject> {
  return { schema: { description, type: "object", "x-free": true, examples: [example] } };
}

/** Anything that JSON can carry. */
export function anything(description: string, example: Json): Form<Json> {
  return { schema: { description, examples: [example] } };
}

/** An object with these fields. */
export function object<Value>(description: string, fields: Fields<Value>): Form<Value> {
  const forms: { readonly [name: string]: { readonly schema: Schema } } = { ...fields };
  const properties = Object.fromEntries(Object.entries(forms).map(([name, { schema }]) => [name, schema]));
  return { schema: { description, type: "object", properties } };
}

/** The same, or null when there is none. */
export function nullable<Value>({ schema }: Form<Value>): Form<Value | null> {
  const { $ref, anyOf, ...beside } = schema;
  if ($ref !== undefined) return { schema: { ...beside, anyOf: [{ $ref }, { type: "null" }] } };
  if (anyOf !== undefined) return { schema: { ...beside, anyOf: [...anyOf, { type: "null" }] } };
  return { schema: { ...schema, type: [...typesOf(schema), "null"] } };
}

/** The id of a resource; the rehearsal of a new one has none yet. */
export function idOrRehearsed(form: Form<string>): Form<string> {
  const { description = "" } = form.schema;
  return { schema: { ...nullable(form).schema, description: `${description}; null in the rehearsal of a new one` } };
}

/** What stands under a name in the document. */
export function named<Value>(name: string, description: string): Form<Value> {
  return { schema: { description, $ref: refTo(name) } };
}

/** One of several forms. */
export function either<One, Other>(description: string, one: Form<One>, other: Form<Other>): Form<One | Other> {
  return { schema: { description, anyOf: [one.schema, other.schema] } };
}

/** An object of which every field is always there. */
export function always<Value>({ schema }: Form<Value>): Form<Value> {
  return { schema: { ...schema, required: Object.keys(schema.properties ?? {}) } };
}
