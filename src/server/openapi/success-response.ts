import type { Operation } from "../../contract/operations.ts";
import type { OperationDescription } from "./description.ts";
import type { MediaObject, ResponseObject } from "./document-types.ts";
import { requestIdHeader } from "./error-responses.ts";
import { refTo, type Schema, type Schemas } from "./json-schema.ts";
import { sampleValue } from "./sample-value.ts";

/** The success reply of an operation. */
export function successResponse(row: Operation, about: OperationDescription, schemas: Schemas): ResponseObject {
  const schema = replySchema(row, about);
  const media: MediaObject = { schema, example: sampleValue(schemas, schema) };
  const headers = {
    ...requestIdHeader,
    ...(row.retry !== "read" && keysHonoured),
    ...(row.reply === "list" && caller),
  };
  return { description: says[row.reply], headers, content: { "application/json": media } };
}

const keysHonoured = {
  "idempotency-key-accepted": {
    description: "This server supports `Idempotency-Key`",
    schema: { type: "string", const: "true" },
  },
} as const;

const caller = {
  "x-caller": {
    description: "The tenant, the caller and its first roles, as JSON; not told with `--documented-only`",
    schema: { type: "string" },
  },
} as const;

const says: { readonly [reply in Operation["reply"]]: string } = {
  one: "The resource",
  list: "One page of the list",
  empty: "Done",
  bare: "The created object, without an envelope",
};

function replySchema({ reply }: Operation, { answers, beside, alwaysBeside = [] }: OperationDescription): Schema {
  const row: Schema = answers === undefined ? { type: "object" } : { $ref: refTo(answers) };
  switch (reply) {
    case "empty":
      return { type: "object", additionalProperties: false, examples: [{}] };
    case "bare":
      return row;
    case "list":
      return {
        type: "object",
        required: ["data", "pagination"],
        properties: { data: { type: "array", items: row }, pagination: { $ref: refTo("Pagination") } },
      };
    case "one":
      return {
        type: "object",
        required: ["data", ...alwaysBeside],
        properties: { data: row, ...beside },
      };
  }
}
