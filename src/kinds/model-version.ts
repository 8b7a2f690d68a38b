import type { ModelVersionManifest } from "../contract/generated/manifests.ts";
import { defineKind, type Kind, type RowOf } from "../core/kind.ts";
import { registryKey, versionNumber } from "../core/registry.ts";

const row: RowOf<"putModelVersion"> = ({ id, fqn, manifest, created_at, created_by_subject, updated_at }) => ({
  key: registryKey(manifest, fqn),
  id,
  manifest,
  version: versionNumber(manifest, fqn),
  stamp: updated_at,
  madeAt: created_at,
  madeBy: created_by_subject?.subjectId,
});

/** A model version. It is written with PUT (E2); operation 5 is used only where it cannot do harm. */
export const kind: Kind = defineKind<ModelVersionManifest>({
  type: "model-version",
  key: ({ ml_repo, name }) => `${ml_repo}/${name}`,
  group: (key) => key.slice(0, key.indexOf("/")),
  references: (manifest) => [{ identity: `ml-repo/${manifest.ml_repo}`, pointer: "/ml_repo" }],
  list: { operation: "listModelVersions", narrow: (key) => ({ name: key.slice(key.indexOf("/") + 1) }), row },
  write: [
    { operation: "putModelVersion", row },
    { operation: "postModelVersion", row: () => null, caution: "registers" },
  ],
  needsUpload: ({ source }) => source?.type === "local",
  versions: { mutable: ["description", "metadata", "version_alias"] },
});
