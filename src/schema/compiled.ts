import { createRequire } from "node:module";
import { schemaFile } from "./schemas.ts";

/** A fault as ajv words it. */
export type ValidatorError = {
  readonly instancePath: string;
  readonly keyword: string;
  /** The field whose name is refused, where it is the name that is wrong. */
  readonly propertyName?: string;
  readonly params: { readonly [name: string]: unknown };
};

/** Checks a value; the faults of the last call are on the function itself. */
export type Validator = { (value: unknown): boolean; errors?: readonly ValidatorError[] | null };

// As schemas are, each is loaded when first needed.
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
