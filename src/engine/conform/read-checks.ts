import { isObject, type Json, type JsonObject, text } from "../../contract/json.ts";
import { type GetOperation, type ListOperation, type OperationName, operation } from "../../contract/operations.ts";
import type { Check } from "./check.ts";
import type { ConformContext, ReceivedPage } from "./context.ts";

/** The checks of the operations that read: each is answered in the documented form. */
export const readChecks: readonly Check[] = [
  listed("workspaces", "listWorkspaces", ["id", "fqn", "name", "manifest"], {
    without: "it finds no workspace, and every plan is incomplete",
  }),
  listed("secret-deployments", "listSecretDeployments", ["id", "version", "manifest"], {
    without: "it cannot say which applications a changed secret concerns",
    at: async ({ secretId }) => ({ id: await secretId() }),
  }),
  read("cluster", "getCluster", ["id", "fqn", "name", "manifest"], {
    without: "it finds no cluster: workspaces on it are blocked",
    at: async ({ clusterId }) => ({ id: await clusterId() }),
  }),
  read("artifact", "getArtifact", ["id", "name", "fqn"], {
    without: "nothing: it reads versions by their lists",
    at: async ({ artifactId }) => ({ id: await artifactId() }),
  }),
  read("job-run", "getJobRun", ["name", "status"], {
    without: "it cannot follow the runs that jobs start",
    at: ({ jobRun }) => jobRun(),
  }),
  listed("deployments", "listDeployments", ["id", "version", "manifest"], {
    without: "it knows nothing of live applications, and follows no rollout",
    at: async ({ applicationId }) => ({ id: await applicationId() }),
  }),
  listed("addons", "listAddons", ["name"], {
    without: "nothing: it manages no addons",
    at: async ({ clusterId }) => ({ id: await clusterId() }),
  }),
  listed("prompt-versions", "listPromptVersions", ["id", "fqn", "manifest"], {
    without: "it finds no prompt, and cannot tell whether one has changed",
  }),
  listed("model-versions", "listModelVersions", ["id", "fqn", "manifest"], {
    without: "it finds no model version, and registers none",
  }),
  listed("ml-repos", "listMlRepos", ["id", "manifest"], {
    without: "it finds no ml repo: models and prompts in it are blocked",
  }),
];

type About = {
  readonly without: string;
  readonly at?: (context: ConformContext) => Promise<{ readonly [name: string]: string }>;
};

function listed(check: string, name: ListOperation, fields: readonly string[], { without, at }: About): Check {
  return {
    ...{ check, part: "interface", level: "read", operations: [name], without },
    asserts: `answers {data: [], pagination: {total, offset, limit}}; each row has ${fields.join(", ")}`,
    find: async (context) => {
      const page = at === undefined ? context.list(name) : context.page(name, { path: await at(context), limit: ROWS });
      return pageFault(name, await page, fields);
    },
  };
}

function read(check: string, name: GetOperation, fields: readonly string[], { without, at }: About): Check {
  return {
    ...{ check, part: "interface", level: "read", operations: [name], without },
    asserts: `answers {data: {}}; the resource has ${fields.join(", ")}`,
    find: async (context) => {
      const path = (await at?.(context)) ?? {};
      const found: unknown = await context.reader.get(name, { path }, context);
      return isObject(found) ? rowFault(name, found, fields) : `${callOf(name)}: data is no object`;
    },
  };
}

const ROWS = 100;

function pageFault(name: OperationName, { rows, pagination }: ReceivedPage, fields: readonly string[]): string | null {
  const missing = ["total", "offset", "limit"].filter((field) => !Number.isSafeInteger(pagination[field]));
  if (missing.length > 0) return `${callOf(name)}: pagination has no integer ${missing.join(", ")}`;
  for (const row of rows) {
    const fault = rowFault(name, row, fields);
    if (fault !== null) return fault;
  }
  return null;
}

function rowFault(name: OperationName, row: JsonObject, fields: readonly string[]): string | null {
  const missing = fields.filter((field) => !isFilled(field, row[field]));
  return missing.length === 0 ? null : `${callOf(name)}: a resource has no ${missing.join(", ")}`;
}

function isFilled(field: string, value: Json | undefined): boolean {
  if (field === "manifest") return isObject(value) && text(value.type) !== undefined;
  if (field === "version") return Number.isSafeInteger(value);
  return typeof value === "string" && value !== "";
}

/** The method and path of an operation. */
export function callOf(name: OperationName): string {
  const { method, path } = operation(name);
  return `${method} ${path}`;
}
