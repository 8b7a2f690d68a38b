import { isObject, type Json, type JsonObject } from "../../src/contract/json.ts";
import { type SchemaNode, schemaFields } from "../../src/schema/schema-node.ts";
import { schemaFor } from "../../src/schema/schemas.ts";
import { platformTypeOf, platformTypes } from "./platform-fields.ts";

/**
 * Values of fields that mean something beyond their form, by path (`version`), by type and name (`RefusalContentPart.type`),
 * or by name at any depth (`**.secret_fqn`): what they name has to exist.
 */
export type CorpusWorld = { readonly [field: string]: Json };

/**
 * Manifests of a type, made from the field list of the platform: the least one, one with every field, and one for each
 * optional field and each variant of a union alone. Values are those of the schema's examples.
 */
export function platformManifests(type: string, world: CorpusWorld): readonly JsonObject[] {
  const name = platformTypeOf(type);
  if (name === undefined) return [];
  const examples = examplesOf(type);
  const builder = { world, example: (path: string) => examples.get(path) ?? [] };
  const made = [...variants(name, "", builder), whole(name, "", builder)].filter(isObject);
  return [...new Map(made.map((one) => [JSON.stringify(one), one])).values()];
}

type Builder = { readonly world: CorpusWorld; readonly example: (path: string) => readonly Json[] };

type Field = { readonly name: string; readonly form: string; readonly isRequired: boolean };

function examplesOf(type: string): ReadonlyMap<string, readonly Json[]> {
  const schema: SchemaNode = schemaFor(type) ?? {};
  const fields = Map.groupBy(schemaFields(schema), ({ path }) => path);
  return new Map(
    [...fields].map(([path, found]) => [path, found.flatMap(({ node }) => (node.examples ?? []) as readonly Json[])]),
  );
}

function fieldsOf(type: string): readonly Field[] {
  const known = platformTypes.get(type);
  if (known?.is !== "fields") return [];
  const own = known.fields.map(([name, form, isRequired]) => ({ name, form, isRequired }));
  const names = new Set(own.map(({ name }) => name));
  const base = known.base === null ? [] : fieldsOf(known.base).filter(({ name }) => !names.has(name));
  return [...base, ...own];
}

/** Every value of a form that differs from the first in one thing; the first is the least. */
function variants(form: string, path: string, on: Builder): readonly Json[] {
  const known = platformTypes.get(form);
  if (known?.is === "one of") return known.names.flatMap((name) => variants(name, path, on));
  if (known?.is === "fields") return objects(form, path, on);
  if (!form.endsWith("[]")) return [leaf(form, path, on)];
  const item = form.slice(0, -2);
  return platformTypes.has(item) ? variants(item, `${path}[]`, on).map((value) => [value]) : [leaf(form, path, on)];
}

function objects(type: string, path: string, on: Builder): readonly JsonObject[] {
  const fields = fieldsOf(type);
  const given = fields.map((field) => ({ ...field, values: valuesOf(type, field, path, on) }));
  const least = Object.fromEntries(
    given.flatMap(({ name, isRequired, values: [first] }) =>
      isRequired && first !== undefined ? [[name, first]] : [],
    ),
  );
  const others = given.flatMap(({ name, isRequired, values }) =>
    values.slice(isRequired ? 1 : 0).map((value) => ({ ...least, [name]: value })),
  );
  return [least, ...others];
}

function whole(form: string, path: string, on: Builder): Json {
  const known = platformTypes.get(form);
  if (known?.is === "one of") return whole(known.names[0] ?? "", path, on);
  if (known?.is === "fields") {
    return Object.fromEntries(
      fieldsOf(form).map((field) => {
        const at = below(path, field.name);
        return [field.name, meantValue(form, field.name, at, on) ?? whole(field.form, at, on)];
      }),
    );
  }
  const item = form.slice(0, -2);
  if (form.endsWith("[]") && platformTypes.has(item)) return [whole(item, `${path}[]`, on)];
  return leaf(form, path, on);
}

function valuesOf(type: string, { name, form }: Field, path: string, on: Builder): readonly Json[] {
  const at = below(path, name);
  const meant = meantValue(type, name, at, on);
  return meant === undefined ? variants(form, at, on) : [meant];
}

function meantValue(type: string, name: string, path: string, { world }: Builder): Json | undefined {
  return world[`${type}.${name}`] ?? world[path] ?? world[`**.${name}`];
}

function below(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

// A literal, an item of an enumeration, or a value as the schema's example has it.
function leaf(form: string, path: string, { example }: Builder): Json {
  const literal = /^"(.*)"$/.exec(form)?.[1];
  if (literal !== undefined) return literal;
  const isForm = formTests[form.startsWith("Record<") ? "map" : form] ?? (form.endsWith("[]") ? list : undefined);
  if (isForm === undefined) return form;
  return example(path).find(isForm.test) ?? isForm.otherwise;
}

type FormTest = { readonly test: (value: Json) => boolean; readonly otherwise: Json };

const text: FormTest = { test: (value) => typeof value === "string", otherwise: "text" };
const number: FormTest = { test: (value) => typeof value === "number", otherwise: 1 };
const list: FormTest = { test: (value) => Array.isArray(value), otherwise: ["text"] };
const formTests: { readonly [form: string]: FormTest } = {
  str: text,
  string: text,
  num: number,
  number,
  bool: { test: (value) => typeof value === "boolean", otherwise: true },
  map: { test: (value) => isObject(value), otherwise: { key: "text" } },
  "str[]": list,
  "string[]": list,
  "map[]": { test: (value) => Array.isArray(value), otherwise: [{ key: "text" }] },
};
