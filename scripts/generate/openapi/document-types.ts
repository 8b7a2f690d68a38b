import type { Json } from "../../../src/contract/json.ts";
import type { Schema, Schemas } from "../../../src/server/openapi/json-schema.ts";

/** A reference to a component of the document. */
export type ReferenceObject = { readonly $ref: string };

/** A parameter of an operation. */
export type ParameterObject = {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly description: string;
  readonly required?: true;
  readonly style?: "form";
  readonly explode?: boolean;
  readonly schema: Schema;
  readonly example?: Json;
};

/** The JSON of a request or reply. */
export type MediaObject = { readonly schema: Schema; readonly example?: Json };

/** A reply of an operation. */
export type ResponseObject = {
  readonly description: string;
  readonly headers?: { readonly [name: string]: { readonly description: string; readonly schema: Schema } };
  readonly content?: { readonly "application/json": MediaObject };
};

/** One operation of the document. */
export type OperationObject = {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly (ParameterObject | ReferenceObject)[];
  readonly requestBody?: { readonly required: true; readonly content: { readonly "application/json": MediaObject } };
  readonly responses: { readonly [status: string]: ResponseObject | ReferenceObject };
  /** Number in the interface: `16`, `E1`. */
  readonly "x-number": string;
  /** What a client may do when the outcome of a call is unknown. */
  readonly "x-retry": string;
};

/** The part of OpenAPI 3.1 that this server uses. */
export type OpenApiDocument = {
  readonly openapi: "3.1.0";
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly description: string;
    readonly contact: { readonly name: string; readonly url?: string };
    readonly license: { readonly name: string; readonly identifier: string };
  };
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly security: readonly { readonly bearer: readonly string[] }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: { readonly [path: string]: { readonly [method: string]: OperationObject } };
  readonly components: {
    readonly securitySchemes: { readonly bearer: Json };
    readonly parameters: { readonly [name: string]: ParameterObject };
    readonly responses: { readonly [name: string]: ResponseObject };
    readonly schemas: Schemas;
  };
};
