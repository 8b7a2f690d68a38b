import type { ServerResponse } from "node:http";
import { isObject, type JsonObject } from "../../../src/contract/json.ts";
import { type OperationName, operation, operations } from "../../../src/contract/operations.ts";
import { json, page, type Seen, serve } from "../client/server.ts";

/** How a test's control plane misbehaves; may be changed while it runs. */
export type Manners = {
  /** Routes that it does not have. */
  readonly missing: Set<OperationName>;
  /** Operations whose next effect is not answered: the connection breaks instead. */
  readonly swallowed: Map<OperationName, number>;
  /** Operations whose next request is lost before it has an effect. */
  readonly lost: Map<OperationName, number>;
  /** Operations that are refused with this status and message. */
  readonly refused: Map<OperationName, { readonly status: number; readonly message: string }>;
  ignoresDryRun: boolean;
  /** postModelVersion answers `{}` and keeps nothing. */
  discardsModels: boolean;
  /** How many times an application is still found rolling out. */
  rollingOut: number;
  /** How many times a deployment is refused for one that has ended when somebody looks. */
  justEnded: number;
  /** Awaited before each write is looked at. */
  beforeWrite: () => Promise<void>;
};

type Row = JsonObject & { readonly id: string; readonly key: string; readonly manifest: JsonObject };

type Call = { readonly name: OperationName; readonly id: string; readonly body: JsonObject; readonly request: Seen };

const administrator = { role: "tenant-admin", resourceType: "tenant", resourceFqn: "holdfast" };
const stamp = "2026-11-21T00:00:00.000Z";
const collections: { readonly [name in OperationName]?: string } = {
  listWorkspaces: "workspaces",
  putWorkspace: "workspaces",
  listClusters: "clusters",
  getCluster: "clusters",
  putCluster: "clusters",
  listTeams: "teams",
  putTeam: "teams",
  listVirtualAccounts: "accounts",
  putVirtualAccount: "accounts",
  listMlRepos: "repos",
  putMlRepo: "repos",
  listPromptVersions: "prompts",
  putPromptVersion: "prompts",
  listModelVersions: "models",
  postModelVersion: "models",
  putModelVersion: "models",
};

/** A small control plane over HTTP, with faults on demand and a list of everything that took effect. */
export async function controlPlane() {
  const manners: Manners = {
    missing: new Set(),
    swallowed: new Map(),
    lost: new Map(),
    refused: new Map(),
    ignoresDryRun: false,
    discardsModels: false,
    rollingOut: 0,
    justEnded: 0,
    beforeWrite: async () => {},
  };
  const rows = new Map<string, Row[]>();
  const effects: { readonly operation: OperationName; readonly key: string }[] = [];
  const asked: { readonly operation: OperationName; readonly dryRun: boolean }[] = [];
  const collection = (name: string): Row[] => {
    const known = rows.get(name) ?? [];
    rows.set(name, known);
    return known;
  };
  const answer = (response: ServerResponse, request: Seen): unknown => {
    const found = routeOf(request);
    if (found === null || manners.missing.has(found.name)) {
      return json(response, { statusCode: 404, message: "no such route", code: "route-not-found" }, { status: 404 });
    }
    const { name } = found;
    const body: unknown = request.body === "" ? {} : JSON.parse(request.body);
    const call: Call = { ...found, body: isObject(body) ? body : {}, request };
    const isDryRun = call.body.dryRun === true;
    asked.push({ operation: name, dryRun: isDryRun });
    if (operation(name).retry === "read" || isDryRun) return reply(response, call, isDryRun);
    return manners.beforeWrite().then(() => reply(response, call, isDryRun));
  };
  const reply = (response: ServerResponse, call: Call, isDryRun: boolean): unknown => {
    const { name } = call;
    if (!isDryRun && take(manners.lost, name)) return response.destroy();
    const refusal = manners.refused.get(name);
    if (refusal !== undefined) {
      return json(response, { statusCode: refusal.status, message: refusal.message }, { status: refusal.status });
    }
    const { body, status } = operation(name).retry === "read" ? read(call) : write(call);
    return !isDryRun && take(manners.swallowed, name) ? response.destroy() : json(response, body, { status });
  };

  function read({ name, id, request }: Call): { readonly status: number; readonly body: unknown } {
    const { query } = request;
    switch (name) {
      case "listApps":
        return {
          status: 200,
          body: page(
            collection("apps").map((app) => ({ ...app, deployment: app.deployment })),
            request,
          ),
        };
      case "listDeployments": {
        const made = collection("deployments")
          .filter((one) => one.applicationId === id)
          .toReversed();
        const wanted = made.filter((one) => !query.has("deploymentId") || one.id === query.get("deploymentId"));
        if (made.length === 0)
          return { status: 404, body: { statusCode: 404, message: "no such application", code: "not-found" } };
        const isRolling = manners.rollingOut > 0;
        if (isRolling) manners.rollingOut -= 1;
        return {
          status: 200,
          body: page(
            wanted.map((one) => ({ ...one, currentStatus: status(isRolling) })),
            request,
          ),
        };
      }
      case "getCluster": {
        const row = collection("clusters").find((one) => one.id === id);
        return row === undefined
          ? { status: 404, body: { statusCode: 404, message: "no such cluster", code: "not-found" } }
          : { status: 200, body: { data: row } };
      }
      case "getCaller":
        return {
          status: 200,
          body: { data: { subject: "user:admin", tenantName: "holdfast", roles: [administrator] } },
        };
      default:
        return { status: 200, body: page(collection(collections[name] ?? name).toReversed(), request) };
    }
  }

  function write({ name, body }: Call): { readonly status: number; readonly body: unknown } {
    const { manifest } = body;
    if (!isObject(manifest)) return { status: 400, body: { statusCode: 400, message: "manifest is missing" } };
    const isReal = body.dryRun !== true || manners.ignoresDryRun;
    if (name === "putApp") return deploy(manifest, isReal);
    if (name === "postModelVersion") {
      if (!manners.discardsModels) register("models", name, manifest);
      return { status: 200, body: {} };
    }
    if (operation(name).retry === "version")
      return { status: 200, body: { data: register(collections[name] ?? name, name, manifest) } };
    return declare(name, manifest, isReal);
  }

  function deploy(manifest: JsonObject, isReal: boolean): { readonly status: number; readonly body: unknown } {
    const key = `${manifest.workspace_fqn}/${manifest.name}`;
    const isHeld = isReal && manners.justEnded > 0;
    if (isHeld) manners.justEnded -= 1;
    if (isHeld || (isReal && manners.rollingOut > 0))
      return { status: 409, body: { statusCode: 409, message: "a deployment is in progress" } };
    const app = collection("apps").find((one) => one.key === key);
    const version = collection("deployments").filter((one) => one.applicationId === app?.id).length + 1;
    const echo = { ...manifest, allow_interception: false };
    if (!isReal)
      return { status: 200, body: { data: { id: null, applicationId: app?.id ?? null, version, manifest: echo } } };
    const applicationId = app?.id ?? `app-${collection("apps").length + 1}`;
    const deployment = {
      id: `${applicationId}-${version}`,
      key,
      applicationId,
      version,
      manifest: echo,
      currentStatus: status(false),
    };
    collection("deployments").push(deployment);
    const [workspaceFqn = "", appName = ""] = key.split("/");
    const others = collection("apps").filter((one) => one !== app);
    rows.set("apps", [
      ...others,
      { id: applicationId, key, type: "service", name: appName, workspaceFqn, manifest, deployment },
    ]);
    effects.push({ operation: "putApp", key });
    return { status: 200, body: { data: deployment } };
  }

  function register(where: string, name: OperationName, manifest: JsonObject): Row {
    const key = `${manifest.ml_repo}/${manifest.name}`;
    const version = collection(where).filter((one) => one.key === key).length + 1;
    const row = {
      id: `${where}-${collection(where).length + 1}`,
      key,
      fqn: `x:t/${key}:${version}`,
      manifest: { ...manifest, version },
      updated_at: stamp,
    };
    collection(where).push(row);
    effects.push({ operation: name, key });
    return row;
  }

  function declare(
    name: OperationName,
    manifest: JsonObject,
    isReal: boolean,
  ): { readonly status: number; readonly body: unknown } {
    const where = collections[name] ?? name;
    const key = manifest.cluster_fqn === undefined ? String(manifest.name) : `${manifest.cluster_fqn}:${manifest.name}`;
    const old = collection(where).find((one) => one.key === key);
    const id = old?.id ?? `${where}-${collection(where).length + 1}`;
    const row = { id, key, fqn: key, name: key, teamName: key, manifest, updatedAt: stamp };
    if (!isReal) return { status: 200, body: { data: { ...row, id: old?.id ?? null } } };
    rows.set(where, [...collection(where).filter((one) => one !== old), row]);
    effects.push({ operation: name, key });
    const token = where === "accounts" && old === undefined ? { token: `CANARY-token-of-${key}` } : {};
    return { status: 200, body: { data: row, ...token } };
  }

  const { url, seen, stop } = await serve(answer);
  return { url, seen, stop, manners, effects, asked, rows: collection };
}

function status(isRolling: boolean): JsonObject {
  return isRolling
    ? { status: "BUILDING", state: { isTerminalState: false, display: "" } }
    : { status: "DEPLOY_SUCCESS", state: { isTerminalState: true, display: "" } };
}

function take(counts: Map<OperationName, number>, name: OperationName): boolean {
  const left = counts.get(name) ?? 0;
  counts.set(name, Math.max(0, left - 1));
  return left > 0;
}

function routeOf({ method, path }: Seen): { readonly name: OperationName; readonly id: string } | null {
  for (const name of Object.keys(operations) as OperationName[]) {
    const row = operation(name);
    const pattern = new RegExp(`^${row.path.replace(/\{\w+\}/g, "([^/]+)")}$`);
    const match = pattern.exec(path);
    if (row.method === method && match !== null) return { name, id: decodeURIComponent(match[1] ?? "") };
  }
  return null;
}
