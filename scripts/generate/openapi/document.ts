import { isObject, type Json } from "../../../src/contract/json.ts";
import { isDocumented, type Member, type Operation, operation, operations } from "../../../src/contract/operations.ts";
import type { ServedOperation } from "../../../src/server/http/define-operation.ts";
import type { Schema, Schemas } from "../../../src/server/openapi/json-schema.ts";
import type { OperationDescription } from "../../../src/server/openapi/operation-description.ts";
import type { ReferenceSection } from "../../../src/server/resource.ts";
import { resources } from "../../../src/server/resources/index.ts";
import { rolloutNotes } from "../../../src/server/rollouts/rollout-driver.ts";
import { manifestSchemas, replySchemas } from "./component-schemas.ts";
import type { OpenApiDocument, OperationObject } from "./document-types.ts";
import { operationParameters, sharedParameters } from "./parameters.ts";
import { portableSchemas } from "./portable-schemas.ts";
import { errorResponses, operationErrors, successResponse } from "./responses.ts";
import { sampleValue } from "./sample-value.ts";

/** Options of the OpenAPI document. */
export type DocumentOptions = {
  /** Leave the extensions out. */
  readonly documentedOnly: boolean;
  readonly unknownFields: "refuse" | "allow";
};

type Components = Pick<OpenApiDocument["components"], "schemas" | "parameters" | "responses">;

/** The OpenAPI document of a server, built from the table of operations. */
export function openApiDocument({ documentedOnly, unknownFields }: DocumentOptions): OpenApiDocument {
  const schemas: Schemas = portableSchemas({ ...replySchemas, ...manifestSchemas(resources, unknownFields) });
  const described = resources
    .flatMap(({ section, operations }) => operations.map(({ name, description }) => ({ name, description, section })))
    .map((one) => ({ ...one, row: operation(one.name) }))
    .filter(({ row }) => !documentedOnly || isDocumented(row))
    .toSorted((one, other) => operationNames.indexOf(one.name) - operationNames.indexOf(other.name));
  const paths = Map.groupBy(described, ({ row }) => row.path);
  const document: OpenApiDocument = {
    openapi: "3.1.0",
    info: {
      title: "Holdfast control plane",
      version: "v1",
      description: introduction,
      contact: { name: "The operators of this server" },
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/", description: "This server" }],
    security: [{ bearer: [] }],
    tags: [...new Set(described.map(({ section }) => section))].toSorted(byName),
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
      responses: errorResponses,
      schemas,
    },
  };
  return pruneComponents(document);
}

const introduction = [
  "A control plane for ML platforms: workspaces, applications and their deployments, clusters, secrets, accounts, teams, and a registry of models and prompts.",
  "Most resources are declared by a `manifest` with a `type`. Platform resources (`/api/svc`) have camelCase fields, registry resources (`/api/ml`) snake_case ones; manifests are snake_case. Timestamps are ISO 8601 in UTC.",
  rolloutNotes.simulated,
  "Every success is 200. One resource comes as `{data}`, a list as `{data, pagination}`, newest first. Every refusal has one form: `{statusCode, message, code, details}`.",
].join("\n\n");

const operationNames = Object.keys(operations);

function byName(one: ReferenceSection, other: ReferenceSection): number {
  return one.name < other.name ? -1 : 1;
}

type Described = Pick<ServedOperation, "name" | "description"> & {
  readonly section: ReferenceSection;
  readonly row: Operation;
};

function pathItem(sharing: readonly Described[], schemas: Schemas): { readonly [method: string]: OperationObject } {
  return Object.fromEntries(sharing.map((one) => [one.row.method.toLowerCase(), operationObject(one, schemas)]));
}

function operationObject({ name, description, section, row }: Described, schemas: Schemas): OperationObject {
  const body = bodySchema(row, description);
  const parameters = operationParameters(row, description);
  return {
    operationId: name,
    tags: [section.name],
    summary: row.summary,
    description: description.description,
    ...(parameters.length > 0 && { parameters }),
    ...(body !== null && {
      requestBody: {
        required: true,
        content: { "application/json": { schema: body, example: sampleBody(body, schemas) } },
      },
    }),
    responses: { 200: successResponse(row, description, schemas), ...operationErrors(row, description) },
    "x-number": row.number,
    "x-retry": row.retry,
  };
}

function sampleBody(body: Schema, schemas: Schemas): Json {
  const members = Object.entries(body.properties ?? {}).filter(([member]) => body.required?.includes(member));
  return Object.fromEntries(members.map(([member, schema]) => [member, sampleValue(schemas, schema)]));
}

const dryRun: Schema = {
  description:
    "Check everything as the write would and answer what it would answer, but write nothing. A new resource has no id then",
  default: false,
};

// The schema of an operation's body; null when it takes none.
function bodySchema({ body }: Operation, description: OperationDescription): Schema | null {
  if (body === undefined) return null;
  const members = Object.entries(body);
  return {
    type: "object",
    required: members.filter(([, { required }]) => required === true).map(([member]) => member),
    properties: Object.fromEntries(members.map(([member, form]) => [member, memberSchema(description, member, form)])),
    additionalProperties: false,
  };
}

function memberSchema({ manifest, members }: OperationDescription, member: string, { is }: Member): Schema {
  if (member === "manifest") return manifest ?? {};
  const schema = member === "dryRun" ? dryRun : members?.[member];
  return { ...schema, type: is === "list" ? "array" : is };
}

/** The document without unused components. */
function pruneComponents(document: OpenApiDocument): OpenApiDocument {
  const { components } = document;
  const found = new Set<string>();
  const follow = (value: unknown): void => {
    for (const ref of refsIn(value)) {
      if (found.has(ref)) continue;
      found.add(ref);
      follow(componentAt(components, ref));
    }
  };
  follow(document.paths);
  const kept = <Value>(section: keyof Components, all: { readonly [name: string]: Value }) =>
    Object.fromEntries(Object.entries(all).filter(([name]) => found.has(`#/components/${section}/${name}`)));
  return {
    ...document,
    components: {
      ...components,
      parameters: kept("parameters", components.parameters),
      responses: kept("responses", components.responses),
      schemas: kept("schemas", components.schemas),
    },
  };
}

function componentAt(components: Components, ref: string): unknown {
  const [, , section = "", name = ""] = ref.split("/");
  const all = Object.hasOwn(components, section) ? components[section as keyof Components] : {};
  return Object.hasOwn(all, name) ? all[name] : undefined;
}

function refsIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(refsIn);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === "$ref" && typeof inner === "string" ? [inner] : refsIn(inner),
  );
}
