import type { AddonHelmManifest } from "../../../contract/generated/resources.ts";
import { isObject, type Json, type JsonObject, text } from "../../../contract/json.ts";
import type { AddonEntry, AddonRelease } from "./catalogue.ts";

/** The Helm manifest that the catalogue proposes for a release. */
export function proposedManifest(
  { appName, repoUrl, chart }: AddonEntry,
  { version, values }: AddonRelease,
): AddonHelmManifest {
  return {
    type: "helm",
    name: appName,
    labels: {},
    source: { type: "helm-repo", repo_url: repoUrl, chart, version },
    values,
    ignoreDifferences: [],
  };
}

/** Parses the manifest of an application of type `helm`; missing fields become empty. */
export function readHelm(manifest: JsonObject): AddonHelmManifest {
  const source = objectOf(manifest.source);
  const { kustomize } = manifest;
  return {
    type: "helm",
    name: text(manifest.name) ?? "",
    labels: objectOf(manifest.labels),
    source: {
      type: text(source.type) ?? "helm-repo",
      repo_url: text(source.repo_url) ?? "",
      ...textMember("integration_fqn", source),
      chart: text(source.chart) ?? "",
      version: text(source.version) ?? "",
    },
    values: objectOf(manifest.values),
    ...(isObject(kustomize) && {
      kustomize: { patch: objectOf(kustomize.patch), additions: objectsOf(kustomize.additions) },
    }),
    ignoreDifferences: objectsOf(manifest.ignoreDifferences),
    ...textMember("workspace_fqn", manifest),
  };
}

/** Whether a manifest installs the addon: the same chart, from the addon's repository or under the addon's name. */
export function isInstallationOf(
  { name, source }: AddonHelmManifest,
  { appName, repoUrl, chart }: AddonEntry,
): boolean {
  return source.chart === chart && (source.repo_url.replace(/\/+$/, "") === repoUrl || name === appName);
}

function textMember<Name extends string>(name: Name, object: JsonObject): { readonly [name in Name]?: string } {
  const value = text(object[name]);
  return value === undefined ? {} : ({ [name]: value } as { readonly [name in Name]: string });
}

function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

function objectsOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter((item: Json) => isObject(item)) : [];
}
