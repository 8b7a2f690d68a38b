import { createRequire } from "node:module";
import { requestNames, schemaTypes } from "./generated/types.ts";
import type { SchemaNode } from "./schema-node.ts";

// Each schema is read at its first use: together they would be most of what a command loads. The build copies the files.
const load = createRequire(import.meta.url);

/** The name of the schema for applications of any type. */
export const applicationSchema = "_application";

/** The name of the schemas for editors, which are the `$defs` of one document. */
export const editorSchemas = "_editor";

/** The name of the schema of a body that a daemon takes. */
export type RequestName = (typeof requestNames)[number];

const otherSchemas: readonly string[] = ["config", "policy", applicationSchema, editorSchemas, ...requestNames];

/** Every `type` that a manifest may have, aliases such as `sso-team` included. */
export const manifestTypes: readonly string[] = Object.keys(schemaTypes);

/** An error as reported by ajv. */
export type ValidatorError = {
  readonly instancePath: string;
  readonly keyword: string;
  /** The name of the field, if the name itself is invalid. */
  readonly propertyName?: string;
  readonly params: { readonly [name: string]: unknown };
};

/** Validates a value; the errors of the last call are a property of the function. */
export type Validator = { (value: unknown): boolean; errors?: readonly ValidatorError[] | null };

// Each validator is loaded at its first use.
const loaded = new Map<string, Validator>();

/** The required fields of a manifest type; empty for any other name. */
export function requiredFields(type: string): readonly string[] {
  return Object.hasOwn(schemaTypes, type) ? (schemaTypes[type]?.required ?? []) : [];
}

/** The JSON Schema of a manifest type, of the configuration under `config` and of policies under `policy`; undefined for any other name. */
export function schemaFor(name: string): SchemaNode | undefined {
  const file = schemaFile(name);
  return file === undefined ? undefined : (load(`./generated/schemas/${file}.json`) as SchemaNode);
}

/** The name of the files that are generated from a schema; undefined if there is no such schema. */
function schemaFile(name: string): string | undefined {
  if (Object.hasOwn(schemaTypes, name)) return schemaTypes[name]?.file;
  return otherSchemas.includes(name) ? name : undefined;
}

/** The compiled validator of a manifest type, or under one of those names; undefined for any other name. */
export function validatorFor(name: string): Validator | undefined {
  const known = loaded.get(name);
  if (known !== undefined) return known;
  const file = schemaFile(name);
  if (file === undefined) return undefined;
  const { validate } = load(`./generated/validators/${file}.cjs`) as { readonly validate: Validator };
  loaded.set(name, validate);
  return validate;
}
