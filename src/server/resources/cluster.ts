import type { Kysely, Transaction } from "kysely";
import type { Cluster } from "../../contract/generated/resources.ts";
import { type JsonObject, text } from "../../contract/json.ts";
import { notFound } from "../../http/http-error.ts";
import { checkSemantics } from "../../schema/check-semantics.ts";
import { preparedQuery } from "../../store/prepared-query.ts";
import { type AccessTarget, fqnsWithRole, isAllowed, readsTenant } from "../auth/access.ts";
import { collaboratorGrants, type Grant, replaceGrants } from "../auth/grants.ts";
import { tenant } from "../auth/principal.ts";
import { fromText, type JsonText } from "../database/json-text.ts";
import { selectPage } from "../database/select-page.ts";
import type { ResourceRow, Tables } from "../database/tables.ts";
import { defineOperation } from "../http/define-operation.ts";
import type { Handler } from "../http/operation-call.ts";
import { type DeclaredKind, putDeclared, type ResourceInput } from "../manifest/put-declared.ts";
import { errorDetails, requiredName } from "../manifest/require-valid-manifest.ts";
import { refTo } from "../openapi/json-schema.ts";
import { REPLACE_DESCRIPTION } from "../openapi/operation-description.ts";
import type { ReferenceSection, ResourceDefinition } from "../resource.ts";
import { seedByDryRun } from "../seed/seed-rule.ts";
import { copyDeclared } from "../snapshot/rows.ts";
import { snapshotPart } from "../snapshot/snapshot-part.ts";

/** A stored cluster, which has an id. */
export type StoredCluster = Cluster & { readonly id: string };

declare module "../database/tables.ts" {
  interface Tables {
    readonly clusters: ResourceRow<StoredCluster>;
  }
}

const type = "cluster";

/** Clusters, declared by a manifest. */
const clusterKind: DeclaredKind<StoredCluster> = {
  operation: "putCluster",
  types: ["cluster"],
  identity: (manifest) => `cluster/${requiredName(manifest)}`,
  find: (database, manifest) => findCluster(database, requiredName(manifest)),
  noun: "cluster",
  mayWrite: (principal, manifest) => isAllowed(principal, "admin", targetOf(requiredName(manifest))),
  grantsOf,
  faults: async (_, manifest) => errorDetails(checkSemantics("cluster", manifest)),
  stamps: ({ createdBySubject, createdAt }) => ({ subject: createdBySubject, createdAt }),
  make: makeCluster,
  save: saveCluster,
};

const putCluster: Handler<"putCluster"> = ({ principal, body }, context) =>
  putDeclared(clusterKind, principal, body, context);

const getCluster: Handler<"getCluster"> = async ({ principal, path: { id } }, { store }) => {
  const data = isAllowed(principal, "read", targetOf(id)) ? await findClusterText(store.read, id) : null;
  if (data === null) throw notFound("the cluster");
  return { data };
};

const listClusters: Handler<"listClusters"> = async ({ principal, page: wanted }, { store }) => {
  const visible = readsTenant(principal) ? null : fqnsWithRole(principal, type, "here");
  const all = store.read.selectFrom("clusters");
  return selectPage((visible === null ? all : all.where("id", "in", visible)).select("json"), wanted);
};

/** The section of clusters in the reference. */
export const clustersSection: ReferenceSection = { name: "Clusters", description: "Clusters and the addons on them." };

/** The operations on clusters: 6, 17 and E3. */
export const resource: ResourceDefinition = {
  section: clustersSection,
  operations: [
    defineOperation("getCluster", getCluster, {
      description: "A cluster's id, fqn and name are the same text.",
      replySchema: "Cluster",
      parameters: { id: { description: "Id of the cluster, which is its name", example: "prod-eu" } },
    }),
    defineOperation("putCluster", putCluster, {
      scope: ({ manifest }) => text(manifest.name),
      description: REPLACE_DESCRIPTION,
      replySchema: "Cluster",
      manifest: { $ref: refTo("ClusterManifest") },
    }),
    defineOperation("listClusters", listClusters, {
      description: "Returns the clusters that the caller may see, newest first.",
      replySchema: "Cluster",
    }),
  ],
  references: [
    {
      kind: "cluster",
      existing: namesOf,
      isVisible: (principal, fqn) => isAllowed(principal, "read", targetOf(fqn)),
    },
  ],
  seeds: { cluster: seedByDryRun("putCluster") },
  snapshot: [snapshotPart("cluster", { rows: "clusters", operation: "putCluster", copy: copyDeclared(clusterKind) })],
};

function makeCluster({ manifest, subject, createdAt, updatedAt }: ResourceInput<StoredCluster>): StoredCluster {
  const name = requiredName(manifest);
  return {
    id: name,
    fqn: name,
    name,
    tenantName: tenant,
    accountId: tenant,
    createdBy: subject.subjectId,
    createdBySubject: subject,
    createdAt,
    updatedAt,
    manifest,
  };
}

async function saveCluster(
  transaction: Transaction<Tables>,
  { id, createdAt, manifest }: StoredCluster,
  json: JsonText<StoredCluster>,
): Promise<void> {
  await transaction
    .insertInto("clusters")
    .values({ id, created_at: createdAt, json })
    .onConflict((conflict) => conflict.column("id").doUpdateSet({ json }))
    .execute();
  await replaceGrants(transaction, `cluster/${id}`, grantsOf(manifest));
}

function grantsOf(manifest: JsonObject): readonly Grant[] {
  return collaboratorGrants(targetOf(requiredName(manifest)), manifest);
}

function targetOf(fqn: string): AccessTarget {
  return { type, fqn };
}

const byName = preparedQuery((database: Kysely<Tables>, { name }: { readonly name: string }) =>
  database.selectFrom("clusters").select("json").where("id", "=", name),
);

/** The cluster of that name, visible or not. */
export async function findCluster(database: Kysely<Tables>, name: string): Promise<StoredCluster | null> {
  const text = await findClusterText(database, name);
  return text === null ? null : fromText(text);
}

/** The JSON text of that cluster. */
async function findClusterText(database: Kysely<Tables>, name: string): Promise<JsonText<StoredCluster> | null> {
  const [row] = await byName(database, { name });
  return row === undefined ? null : row.json;
}

async function namesOf(database: Kysely<Tables>, keys: readonly string[]): Promise<readonly string[]> {
  const rows = await database.selectFrom("clusters").select("id").where("id", "in", keys).execute();
  return rows.map(({ id }) => id);
}
