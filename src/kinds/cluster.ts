import { text } from "../contract/json.ts";
import { grantReferences } from "../core/grants.ts";
import type { Kind, RowOf } from "../core/kind.ts";

const row: RowOf<"getCluster"> = ({ id, name, manifest, updatedAt }) => ({
  key: name,
  id: id || null,
  manifest,
  stamp: updatedAt,
});

/** A cluster. Without the list E3 it is read by its id: its name on some servers, what a dryRun answers on others. */
export const kind: Kind = {
  type: "cluster",
  key: (manifest) => text(manifest.name) ?? "",
  group: () => null,
  references: grantReferences,
  list: { operation: "listClusters", row },
  single: {
    operation: "getCluster",
    guessId: (key) => key,
    idFrom: ({ id }: { id?: string | null }) => id || null,
    row,
  },
  write: [{ operation: "putCluster", rehearsal: "putCluster", row }],
};
