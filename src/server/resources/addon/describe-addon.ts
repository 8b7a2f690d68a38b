import type { Addon, AddonHelmManifest, Recommendation } from "../../../contract/generated/resources.ts";
import { rolloutState } from "../../../contract/rollout-state.ts";
import type { ApplicationRow, DeploymentRow } from "../application/rows.ts";
import type { AddonEntry } from "./catalogue.ts";
import { proposedManifest, readHelm } from "./helm-manifest.ts";
import { previewUpgrade } from "./preview-upgrade.ts";

/** An application of type `helm`, with its newest deployment. */
export type HelmApplication = { readonly application: ApplicationRow; readonly deployment: DeploymentRow };

/** A Helm application with its parsed manifest. */
export type HelmInstallation = HelmApplication & { readonly helm: AddonHelmManifest };

/** An addon of a cluster: its catalogue entry, and the state of the application that installs it. */
export function describeAddon(clusterType: string, entry: AddonEntry, found: HelmInstallation | null): Addon {
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

/** Parses the manifest of an application, once for all addons. */
export function toHelmInstallation(application: HelmApplication): HelmInstallation {
  return { ...application, helm: readHelm(application.deployment.manifest) };
}

type InstallationState = Pick<
  Addon,
  | "appName"
  | "namespace"
  | "applicationId"
  | "workspaceId"
  | "version"
  | "installationSource"
  | "installed"
  | "status"
  | "manifest"
  | "recommendations"
>;

function absent(entry: AddonEntry, version: string): InstallationState {
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

function installed({ application, deployment, helm }: HelmInstallation): InstallationState {
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
