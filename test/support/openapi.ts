import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import type { OpenApiDocument, OperationObject } from "../../scripts/generate/openapi/document-types.ts";
import { STAGED_FILES } from "../../src/contract/staged-files.ts";
import type { Schema, Schemas } from "../../src/server/openapi/json-schema.ts";

/** An operation where it stands in a document. */
export type Route = { readonly method: string; readonly path: string; readonly operation: OperationObject };

/** The document of a running server. */
export async function documentOf(url: string): Promise<OpenApiDocument> {
  return (await (await fetch(`${url}/openapi.json`)).json()) as OpenApiDocument;
}

/** Every operation of a document whose requests and replies are JSON. */
export function routesOf({ paths }: OpenApiDocument): readonly Route[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, operation]) => operation["x-number"] !== STAGED_FILES)
      .map(([method, operation]) => ({ method, path, operation })),
  );
}

/** What is wrong with a reply by the document; nothing when it is as promised. */
export type CheckReply = (operationId: string, status: number, body: unknown) => readonly string[];

/** Holds replies to a document, and to more than it promises: a resource has no field that is not described. */
export function createReplyCheck(document: OpenApiDocument, resourceNames: Iterable<string>): CheckReply {
  const schemas: Record<string, Schema> = { ...document.components.schemas };
  for (const name of resourceNames) if (schemas[name] !== undefined) schemas[name] = closed(schemas[name]);
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  ajv.addSchema({ $id: "document", components: { schemas } });
  const routes = new Map(routesOf(document).map((route) => [route.operation.operationId, route.operation]));
  const checks = new Map<string, ReturnType<Ajv2020["compile"]>>();
  return (operationId, status, body) => {
    const response = routes.get(operationId)?.responses[status];
    if (response === undefined) return [`${operationId} never answers ${status}`];
    const found = "$ref" in response ? document.components.responses[response.$ref.split("/").at(-1) ?? ""] : response;
    const schema = found?.content?.["application/json"].schema;
    if (schema === undefined) return [`${operationId} ${status} has no schema`];
    const key = `${operationId} ${status}`;
    const check = checks.get(key) ?? ajv.compile(absolute(envelope(schema)));
    checks.set(key, check);
    return check(body) ? [] : (check.errors ?? []).map(said);
  };
}

/** A function that says what is wrong with a value by a schema of the document. */
export function createCheck({ components }: OpenApiDocument): (schema: Schema, value: unknown) => readonly string[] {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  ajv.addSchema({ $id: "document", components: { schemas: components.schemas } });
  return (schema, value) => {
    const check = ajv.compile(absolute(schema));
    return check(value) ? [] : (check.errors ?? []).map(said);
  };
}

function said({ instancePath, message = "", params }: ErrorObject): string {
  return `${instancePath}: ${message} ${JSON.stringify(params)}`;
}

function envelope(schema: Schema): Schema {
  return schema.properties?.data === undefined ? schema : { ...schema, additionalProperties: false };
}

function closed(schema: Schema): Schema {
  const inner: Schema = {
    ...schema,
    ...(schema.items !== undefined && { items: closed(schema.items) }),
    ...(schema.anyOf !== undefined && { anyOf: schema.anyOf.map(closed) }),
  };
  if (schema.properties === undefined) return inner;
  const properties: Schemas = Object.fromEntries(
    Object.entries(schema.properties).map(([name, field]) => [name, closed(field)]),
  );
  return { ...inner, properties, additionalProperties: false };
}

/** The schema with its references led to the document that the validator knows. */
function absolute(value: unknown): object {
  return JSON.parse(JSON.stringify(value), (key, inner: unknown) =>
    key === "$ref" && typeof inner === "string" ? `document${inner}` : inner,
  ) as object;
}
