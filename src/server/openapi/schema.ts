import type { Json } from "../../contract/json.ts";

/** A JSON Schema in the words that our document uses; `x-` words are those of `schemas/`. */
export type Schema = {
  readonly $ref?: string;
  readonly title?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly const?: Json;
  readonly enum?: readonly Json[];
  readonly properties?: { readonly [name: string]: Schema };
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly propertyNames?: Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly not?: Schema;
  readonly discriminator?: Discriminator;
  readonly allOf?: readonly Schema[];
  readonly if?: Schema;
  readonly then?: Schema;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly pattern?: string;
  readonly default?: Json;
  readonly examples?: readonly Json[];
  /** Values known of an open enumeration. */
  readonly "x-known"?: readonly string[];
  readonly "x-unit"?: string;
  /** The expected form of a text, in words. */
  readonly "x-form"?: string;
  /** The inside belongs to the user. */
  readonly "x-free"?: true;
};

/** The field that tells the forms of a `oneOf` apart, and the schema of each of its values. */
export type Discriminator = {
  readonly propertyName: string;
  readonly mapping: { readonly [value: string]: string };
};

/** Named schemas, as a document keeps them. */
export type Schemas = { readonly [name: string]: Schema };

const PREFIX = "#/components/schemas/";

/** The reference to a named schema. */
export function refTo(name: string): string {
  return `${PREFIX}${name}`;
}

/** The name behind a reference. */
export function refName(ref: string): string {
  return ref.slice(PREFIX.length);
}

/** A schema with what its reference names; what stands beside the reference goes first. */
export function resolveSchema(schemas: Schemas, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const { $ref, ...beside } = schema;
  return { ...schemas[refName($ref)], ...beside };
}

/** The union of known forms that a schema is, or that stands in it beside other forms. */
export function findUnion(schema: Schema): Schema | undefined {
  return schema.discriminator === undefined
    ? schema.anyOf?.find(({ discriminator }) => discriminator !== undefined)
    : schema;
}

/** The types that a schema allows. */
export function schemaTypes({ type }: Schema): readonly string[] {
  return typeof type === "string" ? [type] : (type ?? []);
}

/** Some of the properties of an object. */
export function pickProperties(properties: Schemas, ...names: readonly string[]): Schemas {
  return Object.fromEntries(
    names.flatMap((name) => {
      const found = properties[name];
      return found === undefined ? [] : [[name, found]];
    }),
  );
}
