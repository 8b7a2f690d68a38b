import type { WorkspaceManifest } from "../contract/generated/manifests.ts";
import { defineKind, type Kind, type RowOf } from "../core/kind.ts";
import { authorIn } from "../core/subject.ts";

const row: RowOf<"putWorkspace"> = ({ id, fqn, manifest, createdBySubject, updatedAt }) => ({
  key: fqn,
  id: id ?? null,
  manifest,
  stamp: updatedAt,
  ...authorIn(createdBySubject),
});

/** A workspace in a cluster. */
export const kind: Kind = defineKind<WorkspaceManifest>({
  type: "workspace",
  key: (manifest) => `${manifest.cluster_fqn}:${manifest.name}`,
  parent: (key) => `cluster/${key.slice(0, key.lastIndexOf(":"))}`,
  group: (key) => key,
  place: (key) => [...key.split(":"), "workspace"],
  list: { operation: "listWorkspaces", narrow: (fqn) => ({ fqn }), row },
  cannotWrite: "no documented operation writes workspaces",
  writeRoutes: [{ operation: "putWorkspace", dryRun: "putWorkspace", row }],
});
