import type { Kysely } from "kysely";
import type { Workspace } from "../../../contract/generated/resources.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { badRequest, conflict, forbidden, notFound, unprocessable } from "../../../http/http-error.ts";
import { type ResourceReference, referencesOf } from "../../../model/references.ts";
import { checkSemantics } from "../../../schema/check-semantics.ts";
import { isAllowed } from "../../auth/access.ts";
import { type Principal, tenant } from "../../auth/principal.ts";
import type { Context } from "../../context.ts";
import type { Stored, Tables } from "../../database/tables.ts";
import type { OperationBody } from "../../http/operation-call.ts";
import { danglingReferences, refuseInvisible } from "../../manifest/check-references.ts";
import { errorDetails, requiredName, requiredText } from "../../manifest/require-valid-manifest.ts";
import { findCluster } from "../cluster.ts";
import { findWorkspace, findWorkspaceById } from "../workspace.ts";
import { type FoundApplication, findApplication, findApplicationText } from "./rows.ts";

/** The target of a deployment. */
export type DeploymentTarget = {
  readonly workspace: Stored<Workspace>;
  /** The application when it exists. */
  readonly found: FoundApplication | null;
  /** What the manifest refers to. */
  readonly references: readonly ResourceReference[];
};

/** The manifest completed by `workspaceId` and `name` of the body, which must not contradict it. */
export async function completeManifest(
  database: Kysely<Tables>,
  principal: Principal,
  { manifest, workspaceId, name }: OperationBody<"putApp">,
): Promise<JsonObject> {
  const fqn = workspaceId === undefined ? undefined : ((await findWorkspaceById(database, workspaceId))?.fqn ?? null);
  if (fqn === null || (fqn !== undefined && !isAllowed(principal, "read", { type: "workspace", fqn }))) {
    throw notFound("the workspace");
  }
  return agreed(agreed(manifest, "workspace_fqn", fqn, "workspaceId"), "name", name, "name");
}

/** Finds the target of a deployment; refuses a write first for missing permissions, then for semantic errors. */
export async function findDeploymentTarget(
  database: Kysely<Tables>,
  principal: Principal,
  manifest: JsonObject,
  { applicationId }: OperationBody<"putApp">,
  context: Context,
): Promise<DeploymentTarget> {
  const target = { type: "workspace", fqn: requiredText(manifest, "workspace_fqn") } as const;
  // An invisible workspace is not looked up.
  const workspace = isAllowed(principal, "read", target) ? await findWorkspace(database, target.fqn) : null;
  if (workspace !== null && !isAllowed(principal, "write", target))
    throw forbidden("you may not deploy to this workspace");
  const found =
    workspace === null ? null : await findApplication(database, `${workspace.fqn}:${requiredName(manifest)}`);
  if (applicationId !== undefined) await checkApplicationId(database, principal, applicationId, found);
  const references = referencesOf(manifest, tenant);
  refuseInvisible(principal, references, context);
  await refuseSemanticErrors(database, { manifest, references }, workspace, context);
  if (workspace === null) throw notFound("the workspace");
  if (found !== null && found.application.type !== manifest.type) {
    throw conflict("name-taken", `${found.application.fqn} exists and is of type ${found.application.type}`);
  }
  return { workspace, found, references };
}

async function checkApplicationId(
  database: Kysely<Tables>,
  principal: Principal,
  id: string,
  found: FoundApplication | null,
): Promise<void> {
  if (id === found?.application.id) return;
  const other = await findApplicationText(database, id);
  const isVisible = other !== null && isAllowed(principal, "read", { type: "workspace", fqn: other.workspaceFqn });
  if (!isVisible) throw notFound("the application");
  throw badRequest("applicationId names another application than the manifest does");
}

async function refuseSemanticErrors(
  database: Kysely<Tables>,
  { manifest, references }: { readonly manifest: JsonObject; readonly references: readonly ResourceReference[] },
  workspace: Stored<Workspace> | null,
  context: Context,
): Promise<void> {
  // The workspace is looked up already.
  const others = references.filter(({ kind, key }) => kind !== "workspace" || key !== workspace?.fqn);
  const cluster = workspace === null ? null : await findCluster(database, workspace.clusterId);
  const faults = [
    ...errorDetails(
      checkSemantics(requiredText(manifest, "type"), manifest, cluster === null ? {} : { cluster: cluster.manifest }),
    ),
    ...(await danglingReferences(database, others, context)),
  ];
  if (faults.length > 0) throw unprocessable(faults);
}

function agreed(manifest: JsonObject, field: string, value: string | undefined, member: string): JsonObject {
  const given = manifest[field] ?? undefined;
  if (value === undefined || given === value) return manifest;
  if (given !== undefined) throw badRequest(`${member} and the manifest's ${field} do not agree`);
  return { ...manifest, [field]: value };
}
