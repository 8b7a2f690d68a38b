import { type JsonObject, text } from "../contract/json.ts";

// `model:tenant/repo/name:version`, `chat_prompt:tenant/repo/name:version`.
const FQN = /^[^:]+:[^/]+\/(?<repo>[^/]+)\/(?<name>[^:]+):(?<version>\d+)$/;

/** `repo/name` of a versioned registry entry, from its manifest or, where that is silent, from its fqn. */
export function registryKey(manifest: JsonObject, fqn: string): string {
  const parts = FQN.exec(fqn)?.groups;
  return `${text(manifest.ml_repo) ?? parts?.repo}/${text(manifest.name) ?? parts?.name}`;
}

/** The version number of a registry entry in a reply; 0 when there is none. */
export function versionNumber(manifest: JsonObject, fqn: string): number {
  const { version } = manifest;
  return typeof version === "number" ? version : Number(FQN.exec(fqn)?.groups?.version ?? 0);
}
