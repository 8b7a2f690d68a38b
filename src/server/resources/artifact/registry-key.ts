import { tenant } from "../../auth/principal.ts";

/** Manifest types that have versions, with the first part of their fqns. */
export const registryTypes = {
  chat_prompt: "chat_prompt",
  "model-version": "model",
  "artifact-version": "artifact",
} as const;

/** A manifest type that has versions. */
export type RegistryType = keyof typeof registryTypes;

/** Where something lies in the registry. */
export type RegistryKey = { readonly type: RegistryType; readonly repo: string; readonly name: string };

/** Fqn of what versions have in common: `model:tenant/repo/name`. */
export function artifactFqn({ type, repo, name }: RegistryKey): string {
  return `${registryTypes[type]}:${tenant}/${repo}/${name}`;
}

/** Fqn of one version: `model:tenant/repo/name:3`. */
export function versionFqn(place: RegistryKey, version: number): string {
  return `${artifactFqn(place)}:${version}`;
}

/** How the audit names one version: `model-version/repo/name@3`. */
export function versionIdentity({ type, repo, name }: RegistryKey, version: number): string {
  return `${type}/${repo}/${name}@${version}`;
}
