import { tenant } from "../../auth/principal.ts";

/** Manifest types with versions, and the scheme of their fqns. */
export const registryTypes = {
  chat_prompt: "chat_prompt",
  "model-version": "model",
  "artifact-version": "artifact",
} as const;

/** A manifest type with versions. */
export type RegistryType = keyof typeof registryTypes;

/** Identifies an artifact in the registry. */
export type RegistryKey = { readonly type: RegistryType; readonly repo: string; readonly name: string };

/** The fqn of an artifact: `model:tenant/repo/name`. */
export function artifactFqn({ type, repo, name }: RegistryKey): string {
  return `${registryTypes[type]}:${tenant}/${repo}/${name}`;
}

/** The fqn of one version: `model:tenant/repo/name:3`. */
export function versionFqn(place: RegistryKey, version: number): string {
  return `${artifactFqn(place)}:${version}`;
}

/** The identity of one version in the audit: `model-version/repo/name@3`. */
export function versionIdentity({ type, repo, name }: RegistryKey, version: number): string {
  return `${type}/${repo}/${name}@${version}`;
}
