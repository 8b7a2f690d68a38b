import { isObject, type Json, type JsonObject } from "../contract/json.ts";
import { type OperationName, operation, type Replies } from "../contract/operations.ts";
import { Secret } from "../contract/secret.ts";

/** One page of a list, and the number of rows in the whole list. */
export type Page<Row> = {
  readonly rows: readonly Row[];
  readonly total: number;
};

/** A successful reply: the resource, and the other fields of the envelope. */
export type ResourceReply<Name extends OperationName> = {
  readonly data: Replies[Name];
  /** The one-time token, wrapped as a secret. */
  readonly token: Secret | null;
  /** Whether this call created the token; only `getPersonalAccessToken` reports it. */
  readonly created: boolean | null;
};

// Operations whose resource includes its manifest. A reply without the manifest is not usable.
const DECLARED: ReadonlySet<OperationName> = new Set([
  "listWorkspaces",
  "putPromptVersion",
  "getCluster",
  "listDeployments",
  "listPromptVersions",
  "listModelVersions",
  "listMlRepos",
  "putApp",
  "putCluster",
  "putVirtualAccount",
  "putTeam",
  "putWorkspace",
  "putModelVersion",
  "listClusters",
  "listVirtualAccounts",
  "listTeams",
  "listOwnTeams",
  "putMlRepo",
] satisfies readonly OperationName[]);

/** Whether a reply has the documented envelope. */
export function isEnvelope(name: OperationName, value: Json): boolean {
  if (!isObject(value)) return false;
  const { reply } = operation(name);
  if (reply === "list") return isObject(value.pagination);
  return reply !== "one" || isObject(value.data);
}

/** Reads a reply with one resource; undefined if it does not have the documented form. */
export function readResourceReply<Name extends OperationName>(
  name: Name,
  value: Json,
): ResourceReply<Name> | undefined {
  const data = readResource(name, value);
  if (data === undefined || !isObject(value)) return undefined;
  const { token, created } = value;
  return {
    data: data as Replies[Name],
    token: typeof token === "string" && token !== "" ? new Secret(token) : null,
    created: typeof created === "boolean" ? created : null,
  };
}

/** Reads a reply with a page of a list; undefined if it does not have the documented form. */
export function readEnvelopePage<Name extends OperationName>(name: Name, value: Json): Page<Replies[Name]> | undefined {
  if (!isObject(value) || !isObject(value.pagination)) return undefined;
  const { data, pagination } = value;
  const total = count(pagination.total);
  if (total === undefined || !Array.isArray(data) || !data.every((row: Json) => isObject(row))) return undefined;
  const rows = data.map((row: JsonObject) => readRow(name, row) as Replies[Name]);
  return { rows, total };
}

function readResource(name: OperationName, value: Json): Json | undefined {
  if (!isObject(value)) return undefined;
  const { reply } = operation(name);
  if (reply === "empty") return {};
  if (reply === "bare") return isStage(value) ? value : undefined;
  const { data } = value;
  if (!isObject(data)) return undefined;
  return DECLARED.has(name) && !isObject(data.manifest) ? undefined : data;
}

function isStage({ id, storage_root, artifact_id }: JsonObject): boolean {
  return [id, storage_root, artifact_id].every((field) => typeof field === "string" && field !== "");
}

// A row without a manifest gets an empty one. Without the row, its resource would count as absent.
function readRow(name: OperationName, row: JsonObject): JsonObject {
  if (name === "listApps" && isObject(row.deployment)) {
    const deployment = withManifest(row.deployment);
    return deployment === row.deployment ? row : { ...row, deployment };
  }
  return DECLARED.has(name) ? withManifest(row) : row;
}

function withManifest(row: JsonObject): JsonObject {
  return isObject(row.manifest) ? row : { ...row, manifest: {} };
}

// Some servers send numbers as strings.
function count(value: Json | undefined): number | undefined {
  const number = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}
