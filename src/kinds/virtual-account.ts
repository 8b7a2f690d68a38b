import { text } from "../contract/json.ts";
import { grantReferences } from "../core/grants.ts";
import type { Kind, RowOf } from "../core/kind.ts";

const row: RowOf<"putVirtualAccount"> = ({ id, name, manifest, updatedAt }) => ({
  key: name,
  id: id || null,
  manifest,
  stamp: updatedAt,
});

/** A virtual account. Its creation answers a token once; only the extension E5 reads accounts. */
export const kind: Kind = {
  type: "virtual-account",
  key: (manifest) => text(manifest.name) ?? "",
  group: () => null,
  references: grantReferences,
  list: { operation: "listVirtualAccounts", row },
  write: [{ operation: "putVirtualAccount", rehearsal: "putVirtualAccount", row }],
  // With a secret store the server keeps the token itself, so losing our copy loses nothing.
  issuesToken: (manifest) => manifest.secret_store_config === undefined,
};
