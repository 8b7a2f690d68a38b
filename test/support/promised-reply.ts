import { manifestSchemas } from "../../scripts/generate/openapi/component-schemas.ts";
import { openApiDocument } from "../../scripts/generate/openapi/document.ts";
import type { OpenApiDocument } from "../../scripts/generate/openapi/document-types.ts";
import { portableSchemas } from "../../scripts/generate/openapi/portable-schemas.ts";
import { type OperationName, operations } from "../../src/contract/operations.ts";
import { resources } from "../../src/server/resources/index.ts";
import { type CheckReply, createReplyCheck } from "./openapi.ts";

type Answered = {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly type: string | null;
  readonly body: unknown;
};

let check: CheckReply | null = null;

/** Fails where a control plane answers what its OpenAPI document does not promise. */
export function expectPromised({ method, path, status, type, body }: Answered): void {
  const name = operationAt(method, path.replace(/[?#].*$/s, ""));
  if (name === null || type?.startsWith("application/json") !== true) return;
  check ??= createReplyCheck(withoutManifests(openApiDocument(options)), []);
  const faults = check(name, status, body);
  // Which refusals an operation has is said in words; those that the document lists have their form.
  const counted = status < 400 ? faults : faults.filter((fault) => !fault.includes("never answers"));
  if (counted.length > 0)
    throw new Error(`${method} ${path} answered ${status} against its document:\n${counted.join("\n")}`);
}

const options = { documentedOnly: false, unknownFields: "allow" } as const;

// Manifests are what somebody wrote, here or elsewhere; their schemas would be most of the work.
function withoutManifests(document: OpenApiDocument): OpenApiDocument {
  const manifests = Object.keys(portableSchemas(manifestSchemas(resources, "allow")));
  const schemas = { ...document.components.schemas, ...Object.fromEntries(manifests.map((name) => [name, {}])) };
  return { ...document, components: { ...document.components, schemas } };
}

const routes = Object.entries(operations).map(([name, { method, path }]) => ({
  name: name as OperationName,
  method: method as string,
  pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
}));

function operationAt(method: string, path: string): OperationName | null {
  return routes.find((route) => route.method === method && route.pattern.test(path))?.name ?? null;
}
