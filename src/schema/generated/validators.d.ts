/** A fault as ajv words it. */
export type RawFault = {
  readonly instancePath: string;
  readonly keyword: string;
  /** The field whose name is refused, where it is the name that is wrong. */
  readonly propertyName?: string;
  readonly params: { readonly [name: string]: unknown };
};

/** Checks a value; the faults of the last call are on the function itself. */
export type Validator = { (value: unknown): boolean; errors?: readonly RawFault[] | null };

/** One validator for each type of manifest and `config` for the configuration. */
export const validators: { readonly [name: string]: Validator };
