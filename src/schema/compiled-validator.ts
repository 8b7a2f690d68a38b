import { createRequire } from "node:module";
import { schemaFile } from "./schemas.ts";

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
const load = createRequire(import.meta.url);
const loaded = new Map<string, Validator>();

/** The compiled validator of a manifest type, or of the configuration under `config`; undefined for any other name. */
export function validatorFor(name: string): Validator | undefined {
  const known = loaded.get(name);
  if (known !== undefined) return known;
  const file = schemaFile(name);
  if (file === undefined) return undefined;
  const { validate } = load(`./generated/validators/${file}.cjs`) as { readonly validate: Validator };
  loaded.set(name, validate);
  return validate;
}
