import type { Json } from "../../contract/json.ts";
import type { Operation, OperationName, operations, Parameter } from "../../contract/operations.ts";
import type { ParameterObject, Reference } from "./openapi.ts";
import type { Schema } from "./schema.ts";

type Table = typeof operations;
type FilterNames = {
  [Name in OperationName]: Table[Name] extends { readonly query: infer Forms } ? keyof Forms : never;
}[OperationName];
type NamesIn<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;
type PathNames = NamesIn<Table[OperationName]["path"]>;
type Words = { readonly description: string; readonly example: Json };

const filters: { readonly [Name in FilterNames]: Words } = {
  clusterId: { description: "Only those on this cluster", example: "prod-eu" },
  fqn: { description: "Only the one with this fqn", example: "prod-eu:ranking" },
  name: { description: "Only those of this name", example: "ranking" },
  version: { description: "Only this version", example: 3 },
  deploymentId: { description: "Only this deployment", example: "019aa2c4-7f5e-7c3b-9d1e-4b8a52f0c6d1" },
  tag: { description: "Only those with this tag", example: "stable" },
  prompt_id: { description: "Only versions of this prompt", example: "019aa2c4-7f5e-7c3b-9d1e-4b8a52f0c6d1" },
  model_id: { description: "Only versions of this model", example: "019aa2c4-7f5e-7c3b-9d1e-4b8a52f0c6d1" },
  ml_repo_id: { description: "Only those in this ml repo", example: "019aa2c4-7f5e-7c3b-9d1e-4b8a52f0c6d1" },
  run_ids: { description: "Only those that these runs made", example: ["run-1"] },
  run_steps: { description: "Only those that were made at these steps", example: [1] },
  include_internal_metadata: { description: "Whether metadata of the platform's own is shown too", example: false },
  subject: { description: "Only those of this subject", example: "virtualaccount:ci" },
  workspaceFqn: { description: "Only those in this workspace", example: "prod-eu:ranking" },
  applicationType: { description: "Only those of this type", example: "service" },
};

const printable = "^[\\x21-\\x7e]*$";

const inPaths: { readonly [Name in PathNames]: Words & { readonly form?: Schema } } = {
  id: { description: "Id of what is read", example: "019aa2c4-7f5e-7c3b-9d1e-4b8a52f0c6d1" },
  name: {
    description: "Name of the token",
    example: "laptop",
    form: {
      maxLength: 64,
      pattern: "^[A-Za-z0-9._-]{1,64}$",
      "x-form": "1 to 64 letters, digits, '-', '_' or '.'",
    },
  },
  jobId: { description: "Id of the job's application", example: "019aa2c4-7f5e-7c3b-9d1e-4b8a52f0c6d1" },
  jobRunName: { description: "Name of the run", example: "nightly-3-1" },
  scope: {
    description: "What the lease is for; percent-encoded",
    example: "prod-eu:ranking",
    form: { maxLength: 256, pattern: printable, "x-form": "up to 256 printable characters without spaces" },
  },
};

/** What an id is the id of, by the path before it. */
const ids: { readonly [before: string]: Partial<Words> } = {
  "/api/svc/v1/apps": { description: "Id of the application" },
  "/api/svc/v1/clusters": { description: "Id of the cluster, which is its name", example: "prod-eu" },
  "/api/svc/v1/secrets": { description: "Id of the secret" },
  "/api/ml/v1/artifacts": { description: "Id of the artifact" },
};

const page: { readonly [name: string]: ParameterObject } = {
  limit: {
    name: "limit",
    in: "query",
    description: "Most rows to answer",
    schema: { type: "integer", minimum: 1, maximum: 1000, default: 100 },
  },
  offset: {
    name: "offset",
    in: "query",
    description: "Rows to pass over",
    schema: { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 },
  },
};

const writing: { readonly [name: string]: ParameterObject } = {
  idempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    description:
      "A random text, one for each intent: for 24 hours the same key answers the first reply again, one-time token included. The same key with another body is 422, one that is still in flight 409",
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
    name: "X-Fencing-Token",
    in: "header",
    description:
      "Number of the lease under which the caller writes; 412 when it was not issued for the scope, or when a higher one was issued for any scope that covers what is written",
    schema: { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    example: 7,
  },
  fencingScope: {
    name: "X-Fencing-Scope",
    in: "header",
    description: "Scope of that lease; without it everything",
    schema: { type: "string", maxLength: 256, pattern: printable, default: "" },
    example: "prod-eu:ranking",
  },
};

/** Parameters that many operations share. */
export const sharedParameters: { readonly [name: string]: ParameterObject } = { ...page, ...writing };

/** The parameters of an operation. */
export function parametersOf(row: Operation): readonly (ParameterObject | Reference)[] {
  return [
    ...pathParameters(row.path),
    ...Object.entries(row.query ?? {}).map(([name, form]) => filter(name, form)),
    ...(row.reply === "list" ? references(page) : []),
    ...(row.retry === "read" ? [] : references(writing)),
  ];
}

function pathParameters(path: string): readonly ParameterObject[] {
  return Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = ""]) => {
    const { form, ...words } = inPaths[name as PathNames];
    const schema: Schema = { type: "string", minLength: 1, maxLength: 512, ...form };
    return { name, in: "path", ...words, ...ids[path.split(`/{${name}}`)[0] ?? ""], required: true, schema };
  });
}

function filter(name: string, form: Parameter): ParameterObject {
  const { description, example } = filters[name as FilterNames];
  const repeated = form === "strings" || form === "integers";
  return {
    name,
    in: "query",
    description,
    ...(repeated && { style: "form", explode: true }),
    schema: filterSchema(form),
    example: form === "string" && typeof example === "number" ? String(example) : example,
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

function references(shared: { readonly [name: string]: ParameterObject }): readonly Reference[] {
  return Object.keys(shared).map((name) => ({ $ref: `#/components/parameters/${name}` }));
}
