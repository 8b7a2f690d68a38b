import type { ChatPromptManifest } from "../contract/generated/manifests.ts";
import { defineKind, type Kind, type RowOf } from "../core/kind.ts";
import { registryKey, versionNumber } from "../core/registry.ts";

const row: RowOf<"putPromptVersion"> = ({ id, fqn, manifest, created_at, created_by_subject, updated_at }) => ({
  key: registryKey(manifest, fqn),
  id,
  manifest,
  version: versionNumber(manifest, fqn),
  stamp: updated_at,
  madeAt: created_at,
  madeBy: created_by_subject?.subjectId,
});

/** A chat prompt: numbered versions whose content never changes. */
export const kind: Kind = defineKind<ChatPromptManifest>({
  type: "chat_prompt",
  key: ({ ml_repo, name }) => `${ml_repo}/${name}`,
  group: (key) => key.slice(0, key.indexOf("/")),
  references: (manifest) => [{ identity: `ml-repo/${manifest.ml_repo}`, pointer: "/ml_repo" }],
  list: { operation: "listPromptVersions", narrow: (key) => ({ name: key.slice(key.indexOf("/") + 1) }), row },
  write: [{ operation: "putPromptVersion", row }],
  versions: { mutable: ["description", "metadata", "version_alias"] },
});
