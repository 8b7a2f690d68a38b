// src/server/resources/addon: kinds that are applications of an add-on. See docs/architecture.md#a-new-resource-of-the-control-plane.

import type { Kysely } from "kysely";
import type { Addon, AddonHelmManifest, Recommendation } from "../../../contract/generated/resources.ts";
import { text } from "../../../contract/json.ts";
import { rolloutState } from "../../../contract/rollout-state.ts";
import { notFound } from "../../../http/http-error.ts";
import { isAllowed } from "../../auth/access.ts";
import { fromText, toText } from "../../database/json-text.ts";
import { textBytes } from "../../database/select-page.ts";
import type { Tables } from "../../database/tables.ts";
import { defineOperation } from "../../http/define-operation.ts";
import type { Handler } from "../../http/operation-call.ts";
import type { ResourceDefinition } from "../../resource.ts";
import type { ApplicationRow, DeploymentRow } from "../application/rows.ts";
import { clustersSection, findCluster } from "../cluster.ts";
import { type AddonEntry, catalogue } from "./catalogue.ts";
import { isInstallationOf, proposedManifest, readHelm } from "./helm-manifest.ts";
import { previewUpgrade } from "./preview-upgrade.ts";

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

/** An application of type `helm` with its newest deployment, and the manifest of that, parsed once for all addons. */
type HelmInstallation = {
  readonly application: ApplicationRow;
  readonly deployment: DeploymentRow;
  readonly helm: AddonHelmManifest;
};

/** The application that installs each addon; one with the addon's name takes precedence. */
async function findInstalling(
  database: Kysely<Tables>,
  clusterId: string,
  entries: readonly AddonEntry[],
): Promise<ReadonlyMap<AddonEntry, HelmInstallation>> {
  const found = new Map<AddonEntry, HelmInstallation>();
  for (let offset = 0; ; offset += BATCH) {
    const applications = await helmApplications(database, clusterId, offset);
    for (const application of applications) {
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
  return rows.map((row): HelmInstallation => {
    const deployment = fromText(row.deployment);
    return { application: fromText(row.application), deployment, helm: readHelm(deployment.manifest) };
  });
}

/** An addon of a cluster: its catalogue entry, and the state of the application that installs it. */
function describeAddon(clusterType: string, entry: AddonEntry, found: HelmInstallation | null): Addon {
  const { name, description, repoUrl, chart, unsupportedClusterTypes, knownCRDs, labels, releases } = entry;
  const isSupported = !unsupportedClusterTypes.includes(clusterType);
  return {
    name,
    description,
    path: `addons/${entry.appName}`,
    addonFolder: "addons",
    required: entry.required && isSupported,
    unsupportedClusterTypes,
    knownCRDs,
    labels,
    source: { repo_url: repoUrl, chart },
    upgrades: previewUpgrade(entry, found?.helm),
    ...(found === null ? absent(entry, releases[0].version) : installed(found)),
  };
}

function absent(entry: AddonEntry, version: string) {
  return {
    appName: entry.appName,
    namespace: entry.namespace,
    version,
    installed: false,
    status: { healthStatus: "Missing", syncStatus: "Unknown", installed: false },
    manifest: proposedManifest(entry, entry.releases[0]),
    recommendations: [],
  };
}

function installed({ application, deployment, helm }: HelmInstallation) {
  const { id, name, workspaceId, workspaceFqn, recommendations } = application;
  return {
    appName: name,
    namespace: workspaceFqn.slice(workspaceFqn.indexOf(":") + 1),
    applicationId: id,
    workspaceId,
    version: helm.source.version,
    installationSource: "helm",
    installed: true,
    status: { ...healthOf(deployment), installed: true },
    manifest: deployment.manifest,
    recommendations: recommendations satisfies readonly Recommendation[],
  };
}

function healthOf({ currentStatus }: DeploymentRow): { readonly healthStatus: string; readonly syncStatus: string } {
  switch (rolloutState(currentStatus)) {
    case "succeeded":
      return { healthStatus: "Healthy", syncStatus: "Synced" };
    case "progressing":
      return { healthStatus: "Progressing", syncStatus: "OutOfSync" };
    case "failed":
      return { healthStatus: "Degraded", syncStatus: "OutOfSync" };
  }
}
