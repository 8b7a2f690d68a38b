import { isObject, type JsonObject } from "../../src/contract/json.ts";
import type { Caller } from "../control-plane.ts";
import type { LiveManifests } from "./judge-situation.ts";
import { bareIdentity, type Declared, identityOf } from "./situation.ts";

/** Looks up what is live of declared resources, as the administrator; what the control plane gives no way to read is left out. */
export async function readLiveManifests(admin: Caller, declared: Declared): Promise<LiveManifests> {
  const found = await Promise.all(
    Object.values(declared).map(async (manifest) => [bareIdentity(identityOf(manifest)), await read(admin, manifest)]),
  );
  return Object.fromEntries(found.filter(([, live]) => live !== undefined));
}

async function read(admin: Caller, manifest: JsonObject): Promise<JsonObject | null | undefined> {
  const name = String(manifest.name);
  switch (manifest.type) {
    case "cluster":
      return manifestOf((await admin.get(`/api/svc/v1/clusters/${name}`)).body.data);
    case "workspace":
      return one(admin, `/api/svc/v1/workspaces?fqn=${String(manifest.cluster_fqn)}:${name}`);
    case "ml-repo":
      return one(admin, `/api/ml/v1/ml-repos?name=${name}`);
    case "chat_prompt":
    case "model-version":
      return newest(admin, manifest);
    case "team":
      return one(admin, "/api/svc/v1/teams?limit=1000", name);
    case "virtual-account":
      return one(admin, "/api/svc/v1/virtual-accounts?limit=1000", name);
    default:
      return application(admin, manifest);
  }
}

// The id of an application is told by a dry run; one that is refused tells of none.
async function application(admin: Caller, manifest: JsonObject): Promise<JsonObject | null | undefined> {
  const { status, body } = await admin.put("/api/svc/v1/apps", { manifest, dryRun: true });
  if (status !== 200) return undefined;
  const { applicationId } = body.data;
  return applicationId ? one(admin, `/api/svc/v1/apps/${applicationId}/deployments?limit=1`) : null;
}

async function newest(admin: Caller, manifest: JsonObject): Promise<JsonObject | null> {
  const path = manifest.type === "chat_prompt" ? "prompt-versions" : "model-versions";
  const { body } = await admin.get(`/api/ml/v1/${path}?name=${String(manifest.name)}&limit=1000`);
  const rows: readonly { readonly manifest: JsonObject }[] = body.data;
  return rows.find((row) => row.manifest.ml_repo === manifest.ml_repo)?.manifest ?? null;
}

async function one(admin: Caller, path: string, name?: string): Promise<JsonObject | null | undefined> {
  const { status, body } = await admin.get(path);
  if (status !== 200) return undefined;
  const rows: readonly { readonly manifest: JsonObject }[] = body.data;
  return manifestOf(name === undefined ? rows[0] : rows.find(({ manifest }) => manifest.name === name));
}

function manifestOf(row: unknown): JsonObject | null {
  return isObject(row) && isObject(row.manifest) ? row.manifest : null;
}
