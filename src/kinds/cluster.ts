import type { ClusterManifest } from "../contract/generated/manifests.ts";
import { defineKind, type Kind, type RowOf } from "../core/kind.ts";
import { authorIn } from "../core/subject.ts";

const row: RowOf<"getCluster"> = ({ id, name, manifest, createdAt, createdBySubject, updatedAt }) => ({
  key: name,
  id: id || null,
  manifest,
  stamp: updatedAt,
  createdAt,
  ...authorIn(createdBySubject),
});

/**
 * A cluster. Without the list E3 it is read by its id: on some servers its name, on others the id in a dry run's reply.
 */
export const kind: Kind = defineKind<ClusterManifest>({
  type: "cluster",
  key: ({ name }) => name,
  group: () => null,
  place: (key) => [key, "cluster"],
  list: { operation: "listClusters", row },
  single: {
    operation: "getCluster",
    guessId: (key) => key,
    idFrom: ({ id }: { id?: string | null }) => id || null,
    row,
  },
  writeRoutes: [{ operation: "putCluster", dryRun: "putCluster", row }],
});
