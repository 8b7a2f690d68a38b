import type { Json } from "../../../src/contract/json.ts";
import { STAGED_FILES, type StagedFileOperation, stagedFileOperations } from "../../../src/contract/staged-files.ts";
import { refTo } from "../../../src/server/openapi/json-schema.ts";
import { artifactsSection } from "../../../src/server/resources/artifact/resource.ts";
import { type DocumentOptions, openApiDocument } from "./document.ts";
import type { OpenApiDocument } from "./document-types.ts";

/**
 * The document as servers answer it: that of the operations, and the operations on files of staged versions, whose requests
 * or replies are the bytes of a file.
 */
export function servedDocument(options: DocumentOptions): Omit<OpenApiDocument, "paths"> & { readonly paths: Json } {
  const document = openApiDocument(options);
  const paths: Json = JSON.parse(JSON.stringify(document.paths));
  return { ...document, paths: options.documentedOnly ? paths : { ...Object(paths), ...filePaths() } };
}

type JsonObject = { readonly [name: string]: Json };

function filePaths(): JsonObject {
  const all = Object.entries(operations).map(([name, operation]) => {
    const { method, path, summary } = stagedFileOperations[name as StagedFileOperation];
    const shared = { operationId: name, tags: [artifactsSection.name], summary, "x-number": STAGED_FILES };
    return { path, method: method.toLowerCase(), operation: { ...shared, ...operation } };
  });
  const byPath = Map.groupBy(all, ({ path }) => path);
  return Object.fromEntries(
    [...byPath].map(([path, sharing]) => [
      path,
      Object.fromEntries(sharing.map(({ method, operation }) => [method, operation])),
    ]),
  );
}

const digest = "sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae";

const storedFile: JsonObject = {
  type: "object",
  description: "A file of a staged version",
  required: ["path", "size", "digest"],
  properties: {
    path: { description: "Path in the stage", type: "string", examples: ["weights/model.safetensors"] },
    size: { description: "Size in bytes", type: "integer", examples: [3] },
    digest: { description: "SHA-256 of its content", type: "string", examples: [digest] },
  },
};

const stage: JsonObject = {
  name: "stage",
  in: "path",
  required: true,
  description:
    "The stage as the last segment of `storage_root`, signed, which needs no token; or, to read the files of a registered version with a token, its id",
  schema: { type: "string", minLength: 1, maxLength: 512 },
  example: "019aa2c4-7f5e-7c3b-9d1e-4b8a52f0c6d1",
};

const path: JsonObject = {
  name: "path",
  in: "path",
  required: true,
  description: "Path of the file in the stage; its slashes need not be encoded",
  schema: { type: "string", minLength: 1, maxLength: 1024 },
  example: "weights/model.safetensors",
};

const etag: JsonObject = { description: "The digest of the file", schema: { type: "string" }, example: `"${digest}"` };
const bytes: JsonObject = { "application/octet-stream": { schema: { type: "string", format: "binary" } } };
const eitherWay: Json = [{ bearer: [] }, {}];
const readErrors = refusals([
  ["400", "BadRequest"],
  ["401", "Unauthorized"],
  ["403", "Forbidden"],
  ["404", "NotFound"],
  ["429", "TooManyRequests"],
  ["503", "Unavailable"],
]);

const operations: { readonly [name in StagedFileOperation]: JsonObject } = {
  listStagedFiles: {
    description:
      "Ordered by path. A client whose upload was interrupted sends again what is missing here, or has another digest.",
    "x-retry": "read",
    security: eitherWay,
    parameters: [stage, { $ref: "#/components/parameters/limit" }, { $ref: "#/components/parameters/offset" }],
    responses: {
      200: json({
        type: "object",
        required: ["data", "pagination"],
        properties: { data: { type: "array", items: storedFile }, pagination: { $ref: refTo("Pagination") } },
      }),
      ...readErrors,
    },
  },
  getStagedFile: {
    description: "With `Range: bytes=…`, a part of it. `HEAD` answers the same without the content.",
    "x-retry": "read",
    security: eitherWay,
    parameters: [stage, path],
    responses: {
      200: { description: "The file", headers: { etag }, content: bytes },
      206: { description: "The part that was asked for", headers: { etag }, content: bytes },
      416: error("The file has no bytes in that range"),
      ...readErrors,
    },
  },
  putStagedFile: {
    description:
      "The file is stored whole or not at all, and replaces the one at this path. `stage` must be signed. `Content-Length` is required; if the request has `Repr-Digest` or `Content-Digest`, the file must have that SHA-256.",
    "x-retry": "repeat",
    security: [{}],
    parameters: [stage, path],
    requestBody: { required: true, content: bytes },
    responses: {
      200: {
        ...json({ type: "object", required: ["data"], properties: { data: storedFile } }),
        headers: { etag },
      },
      411: error("The request has no `Content-Length`"),
      ...readErrors,
      ...refusals([
        ["409", "Conflict"],
        ["413", "TooLarge"],
        ["504", "OutcomeUnknown"],
        ["507", "StorageFull"],
      ]),
    },
  },
};

function json(schema: JsonObject): JsonObject {
  return { description: "Done", content: { "application/json": { schema } } };
}

function error(description: string): JsonObject {
  return { description, content: { "application/json": { schema: { $ref: refTo("Error") } } } };
}

function refusals(statuses: readonly (readonly [status: string, name: string])[]): JsonObject {
  return Object.fromEntries(statuses.map(([status, name]) => [status, { $ref: `#/components/responses/${name}` }]));
}
