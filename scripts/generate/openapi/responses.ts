import type { ErrorBody } from "../../../src/contract/generated/resources.ts";
import { IDEMPOTENCY_KEY, IDEMPOTENCY_KEY_ACCEPTED } from "../../../src/contract/headers.ts";
import type { Operation } from "../../../src/contract/operations.ts";
import { refTo, type Schema, type Schemas } from "../../../src/server/openapi/json-schema.ts";
import type { OperationDescription } from "../../../src/server/openapi/operation-description.ts";
import type { MediaObject, ReferenceObject, ResponseObject } from "./document-types.ts";
import { sampleValue } from "./sample-value.ts";

const all: readonly {
  readonly status: number;
  readonly name: string;
  readonly description: string;
  readonly retry?: true;
}[] = [
  {
    status: 400,
    name: "BadRequest",
    description: "The request is malformed: invalid JSON, a parameter or member with the wrong type, an unknown member",
  },
  { status: 401, name: "Unauthorized", description: "No token, or one that is invalid or has expired" },
  { status: 403, name: "Forbidden", description: "The caller may not do this" },
  { status: 404, name: "NotFound", description: "Absent, or not visible to the caller; the reply is the same" },
  { status: 409, name: "Conflict", description: "The request conflicts with the current state (see `code`)" },
  {
    status: 412,
    name: "StaleFencingToken",
    description: "The fencing token is stale, or was never issued for its scope",
  },
  {
    status: 413,
    name: "TooLarge",
    description:
      "The body is larger than 8 MiB, or the reply would be: for a page the message names a `limit` that fits; a write had no effect",
  },
  { status: 415, name: "NotJson", description: "The body is not `application/json`" },
  {
    status: 422,
    name: "Unprocessable",
    description:
      "The manifest is invalid: `details` lists all errors of its form or, when the form is valid, of its meaning",
  },
  { status: 424, name: "SecretStoreFailed", description: "The secret store could not store the token" },
  { status: 429, name: "TooManyRequests", description: "Too many requests of this caller", retry: true },
  { status: 503, name: "Unavailable", description: "The server is unavailable at the moment", retry: true },
  { status: 504, name: "OutcomeUnknown", description: "It is unknown whether this was done: check before you retry" },
  { status: 507, name: "StorageFull", description: "The disk is full: nothing was changed", retry: true },
];

/** The header that names a request. */
const requestIdHeader = {
  "x-request-id": { description: "Id of the request, as in the server's log", schema: { type: "string" } },
} as const;

const challenge = {
  "www-authenticate": { description: "A bearer token is required", schema: { type: "string" } },
} as const;

const retryAfter = {
  "retry-after": { description: "Seconds after which to try again", schema: { type: "integer", minimum: 0 } },
} as const;

const examples: { readonly [status: number]: Omit<ErrorBody, "statusCode"> } = {
  400: {
    message: "/dryRun: must be a boolean",
    code: "bad-request",
    details: [{ pointer: "/dryRun", message: "must be a boolean", code: "type" }],
  },
  401: { message: "a valid bearer token is needed", code: "unauthorized" },
  403: { message: "you may not write this", code: "forbidden" },
  404: { message: "the cluster was not found", code: "not-found" },
  409: { message: "a deployment is in progress", code: "deployment-in-progress" },
  412: { message: "a newer lease was issued for this: the fencing token is stale", code: "stale-fencing-token" },
  413: {
    message: "the page is larger than 8 MiB: ask with limit=120",
    code: "reply-too-large",
    details: [{ pointer: "/limit", message: "must be at most 120 at this offset", code: "reply-too-large" }],
  },
  415: { message: "the body must be application/json", code: "not-json" },
  422: {
    message: "/name: is required",
    code: "unprocessable",
    details: [{ pointer: "/name", message: "is required", code: "required" }],
  },
  424: { message: "the secret store could not keep the token", code: "secret-store-failed" },
  429: { message: "you send more requests than this server allows", code: "rate-limited" },
  503: { message: "the storage cannot be used at the moment", code: "storage-unavailable" },
  507: {
    message: "there is no room left on the disk of the server, and nothing was changed",
    code: "storage-full",
  },
  504: { message: "the outcome is unknown: read the resource before you retry", code: "outcome-unknown" },
};

/** All error replies in the document. */
export const errorResponses: { readonly [name: string]: ResponseObject } = Object.fromEntries(
  all.map(({ status, name, description, retry }) => [
    name,
    {
      description,
      headers: { ...requestIdHeader, ...(status === 401 && challenge), ...(retry === true && retryAfter) },
      content: {
        "application/json": { schema: { $ref: refTo("Error") }, example: { statusCode: status, ...examples[status] } },
      },
    },
  ]),
);

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

/** The error replies of an operation, by status. */
export function operationErrors(
  row: Operation,
  { refuses = {} }: OperationDescription,
): { readonly [status: string]: ReferenceObject } {
  const { also = [], never = [] } = refuses;
  const met = all.filter(({ status }) => also.includes(status) || (isMet(status, row) && !never.includes(status)));
  return Object.fromEntries(met.map(({ status, name }) => [status, { $ref: `#/components/responses/${name}` }]));
}

function isMet(status: number, { method, path, retry }: Operation): boolean {
  const isWrite = retry !== "read";
  switch (status) {
    case 403:
    case 409:
    case 412:
    case 422:
    case 504:
    case 507:
      return isWrite;
    case 404:
      return path.includes("{") || isWrite;
    case 415:
      // Also where no body is wanted: one that is sent is read.
      return method !== "GET";
    case 424:
      return false;
    default:
      return true;
  }
}

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
