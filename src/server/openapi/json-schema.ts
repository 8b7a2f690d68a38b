// src/server/openapi: the OpenAPI document. See docs/control-plane.md#how-the-document-is-tested.

import type { Json } from "../../contract/json.ts";

/** A JSON Schema with the keywords that the document uses; `x-` keywords are those of `schemas/`. */
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
  /** Known values of an open enumeration. */
  readonly "x-known"?: readonly string[];
  readonly "x-unit"?: string;
  /** The expected form of a text, described for people. */
  readonly "x-form"?: string;
  /** The content belongs to the user and is not described. */
  readonly "x-free"?: true;
};

/** The field that selects the variant of a `oneOf`, and the schema for each of its values. */
export type Discriminator = {
  readonly propertyName: string;
  readonly mapping: { readonly [value: string]: string };
};

/** Schemas by name. */
export type Schemas = { readonly [name: string]: Schema };

/** What a reference to a named schema begins with. */
export const REF_PREFIX = "#/components/schemas/";

// The interface prescribes these names for schemas in replies.
const replies: readonly string[] = ["HelmManifest"];

/** The reference to a named schema. */
export function refTo(name: string): string {
  return `${REF_PREFIX}${name}`;
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

/** The name of a manifest's schema in the document; names of reply schemas are not used. */
export function manifestSchemaName(type: string): string {
  const name = `${pascalCase(type)}Manifest`;
  return replies.includes(name) ? `Declared${name}` : name;
}

/** `chat_prompt` and `chat-prompt` as `ChatPrompt`. */
export function pascalCase(name: string): string {
  return name
    .split(/[-_]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");
}
