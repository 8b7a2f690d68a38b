import type { Addon, AddonDifference, HelmManifest, Recommendation } from "../../contract/resources.ts";
import { anything, boolean, free, id, list, named, nullable, object, oneOf, text } from "./form.ts";

/** What Helm installs for an addon. */
export const helmManifest = object<HelmManifest>("A release of Helm", {
  type: oneOf("Kind of manifest", ["helm"]),
  name: text("Name of the release", "metrics-server"),
  labels: free("Labels of the release", {}),
  source: object("Where the chart comes from", {
    type: text("Kind of source", "helm-repo"),
    repo_url: text("Address of the chart repository", "https://charts.example.com"),
    integration_fqn: nullable(text("Integration that opens the repository", "holdfast:helm:charts")),
    chart: text("Name of the chart", "metrics-server"),
    version: text("Version of the chart", "3.12.2"),
  }),
  values: free("Values of the chart", { replicas: 2 }),
  kustomize: nullable(
    object("What is changed after rendering", {
      patch: free("Changes to what the chart renders", {}),
      additions: list("Further objects", free("One object", {})),
    }),
  ),
  ignoreDifferences: list("Differences that do not count", free("One rule", {})),
  workspace_fqn: nullable(text("Workspace of the release", "prod-eu:system")),
});

/** A difference between two Helm manifests. */
export const addonDifference = object<AddonDifference>(
  "One difference between two Helm manifests; where both sides are objects it is told by its own `changes`",
  {
    type: oneOf("What an upgrade would do", ["ADD", "REMOVE", "CHANGE"]),
    key: text("Name of the field", "replicas"),
    value: anything("What would be", 2),
    oldValue: anything("What is", 1),
    changes: list("The differences below it", named<AddonDifference>("AddonDifference", "One difference")),
  },
);

/** An addon of a cluster. */
export const addon = object<Addon>("A component of the platform on a cluster", {
  name: text("Name of the addon", "metrics-server"),
  appName: text("Name of its application", "metrics-server"),
  namespace: text("Namespace that it runs in", "kube-system"),
  applicationId: nullable(id("application")),
  description: text("What it is for", "Measures what containers use"),
  path: text("Where its files are", "addons/metrics-server"),
  addonFolder: text("Folder of its files", "metrics-server"),
  version: text("Version of its chart", "3.12.1"),
  installationSource: nullable(text("Who installed it", "platform")),
  workspaceId: nullable(id("workspace")),
  installed: boolean("Whether it is there", true),
  required: boolean("Whether the platform needs it", false),
  status: object("How it is", {
    healthStatus: text("Health", "Healthy"),
    syncStatus: text("Whether it is as declared", "Synced"),
    installed: boolean("Whether it is there", true),
  }),
  manifest: free("What is declared", { type: "helm", name: "metrics-server" }),
  unsupportedClusterTypes: list("Kinds of cluster that it does not run on", text("A cluster type", "generic")),
  knownCRDs: list("Resource definitions that it brings", text("A definition", "podmonitors.example.com")),
  labels: list("Labels", text("A label", "observability")),
  source: object("Where its chart comes from", {
    repo_url: text("Address of the chart repository", "https://charts.example.com"),
    chart: text("Name of the chart", "metrics-server"),
  }),
  upgrades: object("What an upgrade would change", {
    diff: list("Every difference", named<AddonDifference>("AddonDifference", "One difference")),
    currentManifest: nullable(named<HelmManifest>("HelmManifest", "What is there")),
    desiredManifest: named<HelmManifest>("HelmManifest", "What would be there"),
    upgradePossible: boolean("Whether it can be made", true),
    conflictFields: list("Fields that were changed by hand", text("A field", "values.replicas")),
    hasConflict: boolean("Whether there are such fields", false),
  }),
  recommendations: list("What could be better", named<Recommendation>("Recommendation", "One proposal")),
});
