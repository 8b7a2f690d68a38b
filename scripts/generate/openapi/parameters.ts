import { FENCING_SCOPE, FENCING_TOKEN, IDEMPOTENCY_KEY } from "../../../src/contract/headers.ts";
import type { Operation, Parameter } from "../../../src/contract/operations.ts";
import type { Schema } from "../../../src/server/openapi/json-schema.ts";
import type { OperationDescription, ParameterDescription } from "../../../src/server/openapi/operation-description.ts";
import type { ParameterObject, ReferenceObject } from "./document-types.ts";

// Filters of several lists.
const filters: { readonly [name: string]: ParameterDescription } = {
  fqn: { description: "Only the one with this fqn", example: "prod-eu:ranking" },
  name: { description: "Only those of this name", example: "ranking" },
};

const printable = "^[\\x21-\\x7e]*$";

const page: { readonly [name: string]: ParameterObject } = {
  limit: {
    name: "limit",
    in: "query",
    description: "Maximum number of rows",
    schema: { type: "integer", minimum: 1, maximum: 1000, default: 100 },
  },
  offset: {
    name: "offset",
    in: "query",
    description: "Number of rows to skip",
    schema: { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 },
  },
};

const writing: { readonly [name: string]: ParameterObject } = {
  idempotencyKey: {
    name: IDEMPOTENCY_KEY,
    in: "header",
    description:
      "A random text, one for each intended write: for 24 hours the same key returns the first reply again, one-time token included. The same key with another body is 422, one that is still in flight 409",
    schema: {
      type: "string",
      minLength: 16,
      maxLength: 255,
      pattern: printable,
      "x-form": "16 to 255 printable characters without spaces",
    },
    example: "2f1c9c3e-6d0b-4c1e-8b7a-5a4f3e2d1c0b",
  },
  fencingToken: {
    name: FENCING_TOKEN,
    in: "header",
    description:
      "Number of the lease under which the caller writes; 412 when it was not issued for the scope, or when a higher one was issued for any scope that covers what is written",
    schema: { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    example: 7,
  },
  fencingScope: {
    name: FENCING_SCOPE,
    in: "header",
    description: "Scope of that lease; the whole tenant by default",
    schema: { type: "string", maxLength: 256, pattern: printable, default: "" },
    example: "prod-eu:ranking",
  },
};

/** Parameters that many operations share. */
export const sharedParameters: { readonly [name: string]: ParameterObject } = { ...page, ...writing };

/** The parameters of an operation. */
export function operationParameters(
  row: Operation,
  about: OperationDescription,
): readonly (ParameterObject | ReferenceObject)[] {
  return [
    ...pathParameters(row.path, about),
    ...Object.entries(row.query ?? {}).map(([name, form]) => filter(name, form, about)),
    ...(row.reply === "list" ? references(page) : []),
    ...(row.retry === "read" ? [] : references(writing)),
  ];
}

function pathParameters(path: string, { parameters = {} }: OperationDescription): readonly ParameterObject[] {
  return Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = ""]) => {
    const { schema: form, description = "", example = null } = parameters[name] ?? {};
    const schema: Schema = { type: "string", minLength: 1, maxLength: 512, ...form };
    return { name, in: "path", description, example, required: true, schema };
  });
}

function filter(name: string, form: Parameter, { parameters = {} }: OperationDescription): ParameterObject {
  const { description = "", example = null } = parameters[name] ?? filters[name] ?? {};
  const repeated = form === "strings" || form === "integers";
  return {
    name,
    in: "query",
    description,
    ...(repeated && { style: "form", explode: true }),
    schema: filterSchema(form),
    example,
  };
}

function filterSchema(form: Parameter): Schema {
  switch (form) {
    case "string":
      return { type: "string" };
    case "integer":
      return { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER };
    case "boolean":
      return { type: "boolean", default: false };
    case "strings":
      return { type: "array", items: filterSchema("string") };
    case "integers":
      return { type: "array", items: filterSchema("integer") };
  }
}

function references(shared: { readonly [name: string]: ParameterObject }): readonly ReferenceObject[] {
  return Object.keys(shared).map((name) => ({ $ref: `#/components/parameters/${name}` }));
}
