import { IDEMPOTENCY_KEY, IDEMPOTENCY_KEY_ACCEPTED } from "../../contract/headers.ts";
import type { Operation } from "../../contract/operations.ts";
import type { MediaObject, ResponseObject } from "./document-types.ts";
import { requestIdHeader } from "./error-responses.ts";
import type { OperationDescription } from "./operation-description.ts";
import { refTo, type Schema, type Schemas } from "./schemas/json-schema.ts";
import { sampleValue } from "./schemas/sample-value.ts";

/** The success reply of an operation. */
export function successResponse(row: Operation, about: OperationDescription, schemas: Schemas): ResponseObject {
  const schema = bodySchema(row, about);
  const media: MediaObject = { schema, example: sampleValue(schemas, schema) };
  const headers = {
    ...requestIdHeader,
    ...(row.retry !== "read" && acceptedKeyHeader),
  };
  return { description: descriptions[row.reply], headers, content: { "application/json": media } };
}

const acceptedKeyHeader = {
  [IDEMPOTENCY_KEY_ACCEPTED]: {
    description: `This server supports \`${IDEMPOTENCY_KEY}\``,
    schema: { type: "string", const: "true" },
  },
} as const;

const descriptions: { readonly [reply in Operation["reply"]]: string } = {
  one: "The resource",
  list: "One page of the list",
  empty: "Done",
  bare: "The created object, without an envelope",
};

function bodySchema({ reply }: Operation, { replySchema, beside, alwaysBeside = [] }: OperationDescription): Schema {
  const row: Schema = replySchema === undefined ? { type: "object" } : { $ref: refTo(replySchema) };
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
