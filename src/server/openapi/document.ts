import type { Json } from "../../contract/json.ts";
import { isDocumented, type Operation, type OperationName, operation, operations } from "../../contract/operations.ts";
import { bodyOf } from "./bodies.ts";
import { families, familyOf } from "./families.ts";
import { manifestSchemas } from "./manifests.ts";
import { notes } from "./notes.ts";
import type { OpenApiDocument, OperationObject } from "./openapi.ts";
import { parametersOf, sharedParameters } from "./parameters.ts";
import { refusals, refusalsOf } from "./refusals.ts";
import { replyOf } from "./replies.ts";
import { resources } from "./resources.ts";
import { sample } from "./sample.ts";
import type { Schema, Schemas } from "./schema.ts";
import { used } from "./used.ts";

/** What a server tells of itself. */
export type DocumentOptions = {
  /** Leave the extensions out. */
  readonly documentedOnly: boolean;
  readonly unknownFields: "refuse" | "allow";
};

/** The interface of a server as an OpenAPI document, made from the table of operations. */
export function openApiDocument({ documentedOnly, unknownFields }: DocumentOptions): OpenApiDocument {
  const names = operationNames().filter((name) => !documentedOnly || isDocumented(operation(name)));
  const schemas: Schemas = { ...Object.fromEntries(resources), ...manifestSchemas(unknownFields) };
  const paths = Map.groupBy(names, (name) => operation(name).path);
  const tags = new Set(names.map((name) => familyOf(operation(name)).name));
  const document: OpenApiDocument = {
    openapi: "3.1.0",
    info: {
      title: "Holdfast control plane",
      version: "v1",
      description: introduction,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/", description: "This server" }],
    security: [{ bearer: [] }],
    tags: families.filter(({ name }) => tags.has(name)),
    paths: Object.fromEntries([...paths].map(([path, sharing]) => [path, pathItem(sharing, schemas)])),
    components: {
      securitySchemes: {
        bearer: {
          type: "http",
          scheme: "bearer",
          description: "A personal access token, the token of a virtual account, or the administrator's",
        },
      },
      parameters: sharedParameters,
      responses: refusals,
      schemas,
    },
  };
  return used(document);
}

const introduction = [
  "A control plane for ML platforms: workspaces, applications and their deployments, clusters, secrets, accounts, teams, and a registry of models and prompts.",
  "Most resources are declared by a `manifest` with a `type`. Platform resources (`/api/svc`) have camelCase fields, registry resources (`/api/ml`) snake_case ones; manifests are snake_case. Timestamps are ISO 8601 in UTC.",
  "Every success is 200. One resource comes as `{data}`, a list as `{data, pagination}`, newest first. Every refusal has one form: `{statusCode, message, code, details}`.",
].join("\n\n");

/** The names of all operations, in the table's order. */
function operationNames(): readonly OperationName[] {
  return Object.keys(operations).filter((name): name is OperationName => Object.hasOwn(operations, name));
}

function pathItem(names: readonly OperationName[], schemas: Schemas): { readonly [method: string]: OperationObject } {
  return Object.fromEntries(
    names.map((name) => [operation(name).method.toLowerCase(), operationObject(name, operation(name), schemas)]),
  );
}

function operationObject(name: OperationName, row: Operation, schemas: Schemas): OperationObject {
  const body = bodyOf(name, row);
  const parameters = parametersOf(row);
  return {
    operationId: name,
    tags: [familyOf(row).name],
    summary: row.summary,
    description: notes[name],
    ...(parameters.length > 0 && { parameters }),
    ...(body !== null && {
      requestBody: {
        required: true,
        content: { "application/json": { schema: body, example: sampleBody(body, schemas) } },
      },
    }),
    responses: { 200: replyOf(name, row, schemas), ...refusalsOf(row) },
    "x-number": row.number,
    "x-retry": row.retry,
  };
}

function sampleBody(body: Schema, schemas: Schemas): Json {
  const members = Object.entries(body.properties ?? {}).filter(([member]) => body.required?.includes(member));
  return Object.fromEntries(members.map(([member, schema]) => [member, sample(schemas, schema)]));
}
