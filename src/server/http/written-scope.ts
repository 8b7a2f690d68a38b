import type { Kysely } from "kysely";
import { isObject, type JsonObject, text } from "../../contract/json.ts";
import type { Tables } from "../database/tables.ts";
import { findStage } from "../resources/staged-artifact/resource.ts";
import { findWorkspaceFqn } from "../resources/workspace.ts";
import { everything, type ScopePath, scopePath } from "./scope.ts";
import type { Request, Served } from "./serve.ts";

/**
 * The smallest scope that covers what a write is about. Teams, accounts, tokens and secrets are the tenant's; of a
 * request that names no place it does not matter, since it is refused.
 */
export async function writtenScope(
  { name }: Pick<Served, "name">,
  { body, path }: Pick<Request, "body" | "path">,
  database: Kysely<Tables>,
): Promise<ScopePath> {
  const members = isObject(body) ? body : {};
  const manifest = isObject(members.manifest) ? members.manifest : {};
  switch (name) {
    case "putCluster":
      return placeOf(text(manifest.name));
    case "putWorkspace":
      return placeOf(`${text(manifest.cluster_fqn)}:${text(manifest.name)}`);
    case "putApp":
      return placeOf(text(manifest.workspace_fqn) ?? (await workspaceOf(members, database)));
    case "putMlRepo":
      return repoPath(text(manifest.name));
    case "putModelVersion":
    case "postModelVersion":
    case "putPromptVersion":
    case "stageArtifactVersion":
      return repoPath(text(manifest.ml_repo));
    case "markStageFailure":
      return repoPath((await findStage(database, text(members.id) ?? ""))?.repo);
    case "putLease":
      return placeOf(path.scope);
    default:
      return everything;
  }
}

async function workspaceOf({ workspaceId }: JsonObject, database: Kysely<Tables>): Promise<string | undefined> {
  const id = text(workspaceId);
  return id === undefined ? undefined : ((await findWorkspaceFqn(database, id)) ?? undefined);
}

function placeOf(scope: string | undefined): ScopePath {
  return scopePath(scope ?? "");
}

function repoPath(name: string | undefined): ScopePath {
  return name === undefined ? everything : scopePath(`ml-repo/${name}`);
}
