import type { Kysely } from "kysely";
import { text } from "../../../contract/json.ts";
import { notFound } from "../../../http/http-error.ts";
import { isAllowed } from "../../auth/access.ts";
import { fromText, toText } from "../../database/json-text.ts";
import { textBytes } from "../../database/select-page.ts";
import type { Tables } from "../../database/tables.ts";
import { defineOperation } from "../../http/define-operation.ts";
import type { Handler } from "../../http/operation-call.ts";
import type { ResourceDefinition } from "../../resource.ts";
import { clustersSection, findCluster } from "../cluster.ts";
import { type AddonEntry, catalogue } from "./catalogue.ts";
import { describeAddon, type HelmInstallation, toHelmInstallation } from "./describe-addon.ts";
import { isInstallationOf } from "./helm-manifest.ts";

const listAddons: Handler<"listAddons"> = async ({ principal, path: { id }, page }, { store }) => {
  const cluster = isAllowed(principal, "read", { type: "cluster", fqn: id }) ? await findCluster(store.read, id) : null;
  if (cluster === null) throw notFound("the cluster");
  const clusterType = text(cluster.manifest.cluster_type) ?? "";
  const wanted = catalogue.slice(page.offset, page.offset + page.limit);
  const installing = await findInstalling(store.read, id, wanted);
  return {
    rows: wanted.map((entry) => toText(describeAddon(clusterType, entry, installing.get(entry) ?? null))),
    total: catalogue.length,
  };
};

/** The addons of a cluster, installed or not, by name. */
export const resource: ResourceDefinition = {
  section: clustersSection,
  operations: [
    defineOperation("listAddons", listAddons, {
      description: "The catalogue of the cluster by name, with what an upgrade would change.",
      replySchema: "Addon",
      parameters: { id: { description: "Id of the cluster, which is its name", example: "prod-eu" } },
    }),
  ],
};

// Users control the number and size of applications: they are read in batches, and manifests above 1 MiB, Helm's own
// limit of a release, are ignored.
const BATCH = 50;
const MAX_MANIFEST_BYTES = 1024 * 1024;

/** The application that installs each addon; one with the addon's name takes precedence. */
async function findInstalling(
  database: Kysely<Tables>,
  clusterId: string,
  entries: readonly AddonEntry[],
): Promise<ReadonlyMap<AddonEntry, HelmInstallation>> {
  const found = new Map<AddonEntry, HelmInstallation>();
  for (let offset = 0; ; offset += BATCH) {
    const applications = await helmApplications(database, clusterId, offset);
    for (const application of applications.map(toHelmInstallation)) {
      for (const entry of entries) if (isBetter(application, entry, found.get(entry))) found.set(entry, application);
    }
    if (applications.length < BATCH) return found;
  }
}

function isBetter({ helm }: HelmInstallation, entry: AddonEntry, known: HelmInstallation | undefined): boolean {
  if (!isInstallationOf(helm, entry)) return false;
  return known === undefined || (helm.name === entry.appName && known.helm.name !== entry.appName);
}

async function helmApplications(database: Kysely<Tables>, clusterId: string, offset: number) {
  const rows = await database
    .selectFrom("applications as a")
    .innerJoin("workspaces as w", "w.id", "a.workspace_id")
    .innerJoin("deployments as d", "d.id", "a.last_deployment_id")
    .select(["a.json as application", "d.json as deployment"])
    .where("a.type", "=", "helm")
    .where("w.cluster_id", "=", clusterId)
    .where(textBytes("d.json"), "<=", MAX_MANIFEST_BYTES)
    .orderBy("a.created_at")
    .orderBy("a.id")
    .limit(BATCH)
    .offset(offset)
    .execute();
  return rows.map(({ application, deployment }) => ({
    application: fromText(application),
    deployment: fromText(deployment),
  }));
}
