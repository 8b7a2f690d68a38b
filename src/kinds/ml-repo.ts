import type { MlRepoManifest } from "../contract/generated/manifests.ts";
import { text } from "../contract/json.ts";
import { defineKind, type Kind, type RowOf } from "../core/kind.ts";
import { authorIn } from "../core/subject.ts";

const row: RowOf<"putMlRepo"> = ({ id, manifest, created_by_subject }) => ({
  key: text(manifest.name) ?? "",
  id: id || null,
  manifest,
  stamp: null,
  ...authorIn(created_by_subject),
});

/** An ml repo. */
export const kind: Kind = defineKind<MlRepoManifest>({
  type: "ml-repo",
  key: ({ name }) => name,
  group: (key) => key,
  list: { operation: "listMlRepos", narrow: (name) => ({ name }), row },
  cannotWrite: "no documented operation writes ml repos",
  writeRoutes: [{ operation: "putMlRepo", dryRun: "putMlRepo", row }],
});
