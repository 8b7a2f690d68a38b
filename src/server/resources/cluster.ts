import type { Cluster } from "../../contract/generated/resources.ts";
import { text } from "../../contract/json.ts";
import { notFound } from "../../http/http-error.ts";
import { type AccessTarget, fqnsWithRole, isAllowed, readsTenant } from "../auth/access.ts";
import { tenant } from "../auth/principal.ts";
import { keysIn, resourceBy, saveIn, textBy } from "../database/resource-rows.ts";
import { selectPage } from "../database/select-page.ts";
import type { ResourceRow, Stored } from "../database/tables.ts";
import { defineOperation } from "../http/define-operation.ts";
import type { Handler } from "../http/operation-call.ts";
import { type DeclaredKind, putDeclared, type ResourceInput } from "../manifest/put-declared.ts";
import { requiredName } from "../manifest/require-valid-manifest.ts";
import { refTo } from "../openapi/json-schema.ts";
import { REPLACE_DESCRIPTION } from "../openapi/operation-description.ts";
import type { ReferenceSection, ResourceDefinition } from "../resource.ts";
import { seedByDryRun } from "../seed/seed-rule.ts";
import { copyDeclared } from "../snapshot/rows.ts";
import { snapshotPart } from "../snapshot/snapshot-part.ts";

declare module "../database/tables.ts" {
  interface Tables {
    readonly clusters: ResourceRow<Stored<Cluster>>;
  }
}

const findClusterText = textBy("clusters", "id");
const saveCluster = saveIn("clusters", "json");

/** The cluster of that name, visible or not. */
export const findCluster = resourceBy("clusters", "id");

/** Clusters, declared by a manifest. */
const clusterKind: DeclaredKind<Stored<Cluster>> = {
  operation: "putCluster",
  types: ["cluster"],
  keyOf: requiredName,
  find: findCluster,
  stamps: ({ createdBySubject, createdAt }) => ({ subject: createdBySubject, createdAt }),
  make: makeCluster,
  save: (transaction, { id, createdAt }, json) => saveCluster(transaction, { id, created_at: createdAt, json }),
};

const getCluster: Handler<"getCluster"> = async ({ principal, path: { id } }, { store }) => {
  const data = isAllowed(principal, "read", targetOf(id)) ? await findClusterText(store.read, id) : null;
  if (data === null) throw notFound("the cluster");
  return { data };
};

const listClusters: Handler<"listClusters"> = async ({ principal, page: wanted }, { store }) => {
  const visible = readsTenant(principal) ? null : fqnsWithRole(principal, "cluster", "here");
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
    defineOperation("putCluster", putDeclared(clusterKind), {
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
      existing: keysIn("clusters", "id"),
      isVisible: (principal, fqn) => isAllowed(principal, "read", targetOf(fqn)),
    },
  ],
  seeds: { cluster: seedByDryRun("putCluster") },
  snapshot: [snapshotPart("cluster", { rows: "clusters", operation: "putCluster", copy: copyDeclared(clusterKind) })],
};

function makeCluster({ manifest, subject, createdAt, updatedAt }: ResourceInput<Stored<Cluster>>): Stored<Cluster> {
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

function targetOf(fqn: string): AccessTarget {
  return { type: "cluster", fqn };
}
