import type { Workspace } from "../../contract/generated/resources.ts";
import { type JsonObject, text } from "../../contract/json.ts";
import { type AccessTarget, fqnsWithRole, isAllowed, readsTenant } from "../auth/access.ts";
import { collaboratorGrants, type Grant, permissionGrants } from "../auth/grants.ts";
import { type Principal, tenant } from "../auth/principal.ts";
import { keysIn, resourceBy, saveIn } from "../database/resource-rows.ts";
import { selectPage } from "../database/select-page.ts";
import type { ResourceRow, Stored } from "../database/tables.ts";
import { defineOperation } from "../http/define-operation.ts";
import type { Handler } from "../http/operation-call.ts";
import { type DeclaredKind, putDeclared, type ResourceInput } from "../manifest/put-declared.ts";
import { requiredName, requiredText } from "../manifest/require-valid-manifest.ts";
import { refTo } from "../openapi/json-schema.ts";
import { REPLACE_DESCRIPTION } from "../openapi/operation-description.ts";
import type { ResourceDefinition } from "../resource.ts";
import { seedByDryRun } from "../seed/seed-rule.ts";
import { copyDeclared } from "../snapshot/rows.ts";
import { snapshotPart } from "../snapshot/snapshot-part.ts";

declare module "../database/tables.ts" {
  interface Tables {
    readonly workspaces: ResourceRow<Stored<Workspace>> & {
      readonly fqn: string;
      readonly name: string;
      readonly cluster_id: string;
    };
  }
}

const saveWorkspace = saveIn("workspaces", "json");

/** The workspace of that fqn, visible or not. */
export const findWorkspace = resourceBy("workspaces", "fqn");

/** The workspace of that id, visible or not. */
export const findWorkspaceById = resourceBy("workspaces", "id");

/** Workspaces, declared by a manifest. */
const workspaceKind: DeclaredKind<Stored<Workspace>> = {
  operation: "putWorkspace",
  types: ["workspace"],
  keyOf: fqnOf,
  find: findWorkspace,
  grantsOf,
  stamps: ({ createdBySubject, createdAt }) => ({ subject: createdBySubject, createdAt }),
  make: makeWorkspace,
  save: (transaction, { id, fqn, name, clusterId, createdAt }, json) =>
    saveWorkspace(transaction, { id, created_at: createdAt, json, fqn, name, cluster_id: clusterId }),
};

const listWorkspaces: Handler<"listWorkspaces"> = async ({ principal, query, page: wanted }, { store }) => {
  const visible = visibleWorkspaces(principal);
  let rows = store.read.selectFrom("workspaces");
  if (visible !== null) {
    rows = rows.where(({ or, eb }) => or([eb("fqn", "in", visible.fqns), eb("cluster_id", "in", visible.clusters)]));
  }
  if (query.clusterId !== undefined) rows = rows.where("cluster_id", "=", query.clusterId);
  if (query.fqn !== undefined) rows = rows.where("fqn", "=", query.fqn);
  if (query.name !== undefined) rows = rows.where("name", "=", query.name);
  return selectPage(rows.select("json"), wanted);
};

/** The operations on workspaces: 1 and E1. */
export const resource: ResourceDefinition = {
  section: { name: "Workspaces", description: "Parts of clusters in which applications run." },
  operations: [
    defineOperation("listWorkspaces", listWorkspaces, {
      description: "Returns the workspaces that the caller may see, newest first.",
      replySchema: "Workspace",
      parameters: { clusterId: { description: "Only those on this cluster", example: "prod-eu" } },
    }),
    defineOperation("putWorkspace", putDeclared(workspaceKind), {
      scope: ({ manifest }) => `${text(manifest.cluster_fqn)}:${text(manifest.name)}`,
      description: REPLACE_DESCRIPTION,
      replySchema: "Workspace",
      manifest: { $ref: refTo("WorkspaceManifest") },
    }),
  ],
  references: [
    {
      kind: "workspace",
      existing: keysIn("workspaces", "fqn"),
      isVisible: (principal, fqn) => isAllowed(principal, "read", targetOf(fqn)),
    },
  ],
  seeds: { workspace: seedByDryRun("putWorkspace") },
  snapshot: [
    snapshotPart("workspace", {
      rows: "workspaces",
      operation: "putWorkspace",
      after: ["cluster"],
      copy: copyDeclared(workspaceKind, ["name", "cluster_fqn"]),
    }),
  ],
};

function makeWorkspace(
  { manifest, existing, subject, createdAt, updatedAt }: ResourceInput<Stored<Workspace>>,
  newId: () => string,
): Stored<Workspace> {
  const environmentId = text(manifest.environment_name);
  return {
    id: existing?.id ?? newId(),
    fqn: fqnOf(manifest),
    name: requiredName(manifest),
    tenantName: tenant,
    clusterId: requiredText(manifest, "cluster_fqn"),
    ...(environmentId !== undefined && { environmentId }),
    accountId: tenant,
    createdBy: subject.subjectId,
    createdBySubject: subject,
    createdAt,
    updatedAt,
    isSystemWs: false,
    manifest,
  };
}

function grantsOf(manifest: JsonObject): readonly Grant[] {
  const fqn = fqnOf(manifest);
  return [
    ...collaboratorGrants(targetOf(fqn), manifest),
    // Workloads in a workspace act with the workspace's roles.
    ...permissionGrants(`workspace:${fqn}`, manifest),
  ];
}

function fqnOf(manifest: JsonObject): string {
  return `${requiredText(manifest, "cluster_fqn")}:${requiredName(manifest)}`;
}

function targetOf(fqn: string): AccessTarget {
  return { type: "workspace", fqn };
}

/** The workspaces that a principal may see: these fqns, and all on these clusters; null for all workspaces. */
export function visibleWorkspaces(
  principal: Principal,
): { readonly fqns: readonly string[]; readonly clusters: readonly string[] } | null {
  if (readsTenant(principal)) return null;
  return {
    fqns: fqnsWithRole(principal, "workspace", "here"),
    clusters: fqnsWithRole(principal, "cluster", "below"),
  };
}
