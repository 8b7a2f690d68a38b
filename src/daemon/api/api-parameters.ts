import { badRequest } from "../../http/http-error.ts";
import type { QueryText } from "../../http/parse-query.ts";

/** A parameter of the interface: how it is described, and how its texts become a value. */
export type ApiParameter<Value> = {
  readonly description: string;
  /** Its JSON Schema. */
  readonly schema: { readonly [keyword: string]: unknown };
  /** Set if it may not be left out. */
  readonly isRequired?: true;
  /** The value of the texts that a query gives; none where it is left out. Throws with what is wrong with them. */
  readonly read: (texts: readonly string[]) => Value;
};

/** Parameters of a query, by name. */
export type ApiParameters = { readonly [name: string]: ApiParameter<unknown> };

/** The values of parameters. */
export type ParameterValues<Parameters extends ApiParameters> = {
  readonly [name in keyof Parameters]: ReturnType<Parameters[name]["read"]>;
};

/** Reads a query; refuses parameters that are not known, and values that they do not take. */
export function parameterValues<Parameters extends ApiParameters>(
  parameters: Parameters,
  query: QueryText,
): ParameterValues<Parameters> {
  const unknown = [...query.keys()].find((name) => !Object.hasOwn(parameters, name));
  if (unknown !== undefined) throw badRequest(`there is no parameter ${unknown}`);
  const values = Object.entries(parameters).map(([name, { read }]) => {
    try {
      return [name, read(query.get(name) ?? [])];
    } catch (error) {
      if (error instanceof RangeError) throw badRequest(`${name} ${error.message}`);
      throw error;
    }
  });
  // Each value is what the parameter of its name has read.
  return Object.fromEntries(values) as ParameterValues<Parameters>;
}

/** A whole number within limits. */
export function wholeNumber(
  description: string,
  { minimum, maximum, preset }: { readonly minimum: number; readonly maximum: number; readonly preset: number },
): ApiParameter<number> {
  return {
    description,
    schema: { type: "integer", minimum, maximum, default: preset },
    read: (texts) => {
      const text = single(texts);
      if (text === null) return preset;
      const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
      if (value >= minimum && value <= maximum) return value;
      throw new RangeError(`must be a whole number from ${minimum} to ${maximum}`);
    },
  };
}

/** One of some words. */
export function oneOf<Word extends string>(
  description: string,
  words: readonly Word[],
  preset: Word,
): ApiParameter<Word> {
  return {
    description,
    schema: { type: "string", enum: words, default: preset },
    read: (texts) => {
      const text = single(texts) ?? preset;
      const word = words.find((one) => one === text);
      if (word !== undefined) return word;
      throw new RangeError(`must be one of ${words.join(", ")}`);
    },
  };
}

/** True or false. */
export function trueOrFalse(description: string): ApiParameter<boolean> {
  const { read } = oneOf("", ["true", "false"], "false");
  return { description, schema: { type: "boolean", default: false }, read: (texts) => read(texts) === "true" };
}

const MAX_TEXT = 512;

/** A text; null where it is left out or empty. */
export function freeText(
  description: string,
  { pattern }: { readonly pattern?: string } = {},
): ApiParameter<string | null> {
  const form = pattern === undefined ? null : new RegExp(pattern);
  return {
    description,
    schema: { type: "string", maxLength: MAX_TEXT, ...(pattern !== undefined && { pattern }) },
    read: (texts) => {
      const value = single(texts) ?? "";
      if (value.length > MAX_TEXT) throw new RangeError(`is longer than ${MAX_TEXT} characters`);
      if (value !== "" && form?.test(value) === false) throw new RangeError(`must match ${pattern}`);
      return value === "" ? null : value;
    },
  };
}

/** A text that must be given. */
export function neededText(description: string): ApiParameter<string> {
  const { schema, read } = freeText(description);
  return {
    description,
    schema: { ...schema, minLength: 1 },
    isRequired: true,
    read: (texts) => {
      const value = read(texts);
      if (value === null) throw new RangeError("is missing");
      return value;
    },
  };
}

const MAX_WORDS = 50;

/** Words, one in each repetition of the parameter; none means all. */
export function words(description: string): ApiParameter<readonly string[]> {
  return {
    description: `${description}. It may be repeated`,
    schema: { type: "array", items: { type: "string", maxLength: MAX_TEXT }, maxItems: MAX_WORDS },
    read: (texts) => {
      const given = texts.filter((one) => one !== "");
      if (given.length > MAX_WORDS) throw new RangeError(`is given more than ${MAX_WORDS} times`);
      if (given.some((one) => one.length > MAX_TEXT)) throw new RangeError(`is longer than ${MAX_TEXT} characters`);
      return given;
    },
  };
}

function single(texts: readonly string[]): string | null {
  if (texts.length > 1) throw new RangeError("is given twice");
  return texts[0] ?? null;
}
