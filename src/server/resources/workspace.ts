import type { Kysely, Transaction } from "kysely";
import type { Workspace } from "../../contract/generated/resources.ts";
import { type JsonObject, text } from "../../contract/json.ts";
import { checkSemantics } from "../../schema/check-semantics.ts";
import { preparedQuery } from "../../store/prepared-query.ts";
import { type AccessTarget, fqnsWithRole, isAllowed, readsTenant } from "../auth/access.ts";
import { collaboratorGrants, type Grant, permissionGrants, replaceGrants } from "../auth/grants.ts";
import { type Principal, tenant } from "../auth/principal.ts";
import { fromText, type JsonText } from "../database/json-text.ts";
import { selectPage } from "../database/select-page.ts";
import type { ResourceRow, Tables } from "../database/tables.ts";
import { defineOperation } from "../http/define-operation.ts";
import type { Handler } from "../http/operation-call.ts";
import { type DeclaredKind, putDeclared, type ResourceInput } from "../manifest/put-declared.ts";
import { errorDetails, requiredName, requiredText } from "../manifest/require-valid-manifest.ts";
import { refTo } from "../openapi/json-schema.ts";
import { REPLACE_DESCRIPTION } from "../openapi/operation-description.ts";
import type { ResourceDefinition } from "../resource.ts";
import { seedByDryRun } from "../seed/seed-rule.ts";
import { copyDeclared } from "../snapshot/rows.ts";
import { snapshotPart } from "../snapshot/snapshot-part.ts";

/** A stored workspace, which has an id. */
export type StoredWorkspace = Workspace & { readonly id: string };

declare module "../database/tables.ts" {
  interface Tables {
    readonly workspaces: ResourceRow<StoredWorkspace> & {
      readonly fqn: string;
      readonly name: string;
      readonly cluster_id: string;
    };
  }
}

/** Workspaces, declared by a manifest. */
const workspaceKind: DeclaredKind<StoredWorkspace> = {
  operation: "putWorkspace",
  types: ["workspace"],
  identity: (manifest) => `workspace/${fqnOf(manifest)}`,
  find: (database, manifest) => findWorkspace(database, fqnOf(manifest)),
  noun: "workspace",
  mayWrite: (principal, manifest) => isAllowed(principal, "admin", targetOf(fqnOf(manifest))),
  grantsOf,
  faults: async (_, manifest) => errorDetails(checkSemantics("workspace", manifest)),
  stamps: ({ createdBySubject, createdAt }) => ({ subject: createdBySubject, createdAt }),
  make: makeWorkspace,
  save: saveWorkspace,
};

const putWorkspace: Handler<"putWorkspace"> = ({ principal, body }, context) =>
  putDeclared(workspaceKind, principal, body, context);

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
    defineOperation("putWorkspace", putWorkspace, {
      scope: ({ manifest }) => `${text(manifest.cluster_fqn)}:${text(manifest.name)}`,
      description: REPLACE_DESCRIPTION,
      replySchema: "Workspace",
      manifest: { $ref: refTo("WorkspaceManifest") },
    }),
  ],
  references: [
    {
      kind: "workspace",
      existing: fqnsOf,
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
  { manifest, existing, subject, createdAt, updatedAt }: ResourceInput<StoredWorkspace>,
  newId: () => string,
): StoredWorkspace {
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

async function saveWorkspace(
  transaction: Transaction<Tables>,
  { id, fqn, name, clusterId, createdAt, manifest }: StoredWorkspace,
  json: JsonText<StoredWorkspace>,
): Promise<void> {
  await transaction
    .insertInto("workspaces")
    .values({ id, created_at: createdAt, json, fqn, name, cluster_id: clusterId })
    .onConflict((conflict) => conflict.column("id").doUpdateSet({ json }))
    .execute();
  await replaceGrants(transaction, `workspace/${fqn}`, grantsOf(manifest));
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

const byFqn = preparedQuery((database: Kysely<Tables>, { fqn }: { readonly fqn: string }) =>
  database.selectFrom("workspaces").select("json").where("fqn", "=", fqn),
);

/** The workspace of that fqn, visible or not. */
export async function findWorkspace(database: Kysely<Tables>, fqn: string): Promise<StoredWorkspace | null> {
  const [row] = await byFqn(database, { fqn });
  return row === undefined ? null : fromText(row.json);
}

const fqnById = preparedQuery((database: Kysely<Tables>, { id }: { readonly id: string }) =>
  database.selectFrom("workspaces").select("fqn").where("id", "=", id),
);

/** The fqn of the workspace of that id, visible or not. */
export async function findWorkspaceFqn(database: Kysely<Tables>, id: string): Promise<string | null> {
  const [row] = await fqnById(database, { id });
  return row?.fqn ?? null;
}

async function fqnsOf(database: Kysely<Tables>, keys: readonly string[]): Promise<readonly string[]> {
  const rows = await database.selectFrom("workspaces").select("fqn").where("fqn", "in", keys).execute();
  return rows.map(({ fqn }) => fqn);
}
