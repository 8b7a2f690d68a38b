import type { ModelVersion, PromptVersion } from "../contract/generated/resources.ts";
import { type JsonObject, text } from "../contract/json.ts";
import type { ListOperation } from "../contract/operations.ts";
import { referenceKinds } from "../model/references.ts";
import { defineKind, type Kind, type KindFor, type LiveRow } from "./kind.ts";
import { authorIn } from "./subject.ts";

/** The fields that every entry of a registry has. */
type DeclaredEntry = { readonly type: string; readonly name: string; readonly ml_repo: string };

/** A kind of versioned entry in an ml repo. */
export function registryKind<Declared extends DeclaredEntry>(
  type: Declared["type"],
  listOperation: ListOperation,
  abilities: Pick<KindFor<Declared>, "writeRoutes" | "upload" | "hasMetrics">,
): Kind {
  return defineKind<Declared>({
    type,
    key: ({ ml_repo, name }) => `${ml_repo}/${name}`,
    parent: (key) => `${referenceKinds.fields.ml_repo}/${repoOf(key)}`,
    group: repoOf,
    list: {
      operation: listOperation,
      narrow: (key) => ({ name: key.slice(key.indexOf("/") + 1) }),
      row: registryRow,
    },
    hasVersions: true,
    ...abilities,
  });
}

function repoOf(key: string): string {
  return key.slice(0, key.indexOf("/"));
}

/** Reads one version of an entry from a list or from the reply of a write. */
export function registryRow(version: ModelVersion | PromptVersion): LiveRow {
  const { id, fqn, manifest, created_at, created_by_subject, updated_at } = version;
  return {
    key: registryKey(manifest, fqn),
    id,
    manifest,
    version: versionNumber(manifest, fqn),
    stamp: updated_at,
    createdAt: created_at,
    ...authorIn(created_by_subject),
  };
}

// `model:tenant/repo/name:version`, `chat_prompt:tenant/repo/name:version`.
const FQN = /^[^:]+:[^/]+\/(?<repo>[^/]+)\/(?<name>[^:]+):(?<version>\d+)$/;

/** `repo/name` of a versioned registry entry, from its manifest, or from its fqn when the manifest lacks it. */
export function registryKey(manifest: JsonObject, fqn: string): string {
  const parts = FQN.exec(fqn)?.groups;
  return `${text(manifest.ml_repo) ?? parts?.repo}/${text(manifest.name) ?? parts?.name}`;
}

/** The version number of a registry entry in a reply; 0 when it has none. */
export function versionNumber(manifest: JsonObject, fqn: string): number {
  const { version } = manifest;
  return typeof version === "number" ? version : Number(FQN.exec(fqn)?.groups?.version ?? 0);
}
