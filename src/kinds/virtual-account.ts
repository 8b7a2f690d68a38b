import type { VirtualAccountManifest } from "../contract/generated/manifests.ts";
import type { VirtualAccount } from "../contract/generated/resources.ts";
import { defineKind, type Kind, type RowOf, type ScheduledToken } from "../core/kind.ts";
import { authorIn } from "../core/subject.ts";

const row: RowOf<"putVirtualAccount"> = ({ id, name, manifest, metadata, createdAt, createdBySubject, updatedAt }) => ({
  key: name,
  id: id || null,
  manifest,
  stamp: updatedAt,
  createdAt,
  ...(typeof metadata?.disabled === "string" && { disabledAt: metadata.disabled }),
  ...authorIn(createdBySubject),
});

function scheduled({ name, manifest, jwtId, isExpired, nextScheduledRotation }: VirtualAccount): ScheduledToken | null {
  // The server itself replaces a token that it puts into a secret store.
  const isOurs = manifest.auto_rotate && !manifest.secret_store_config && isExpired !== true;
  if (!isOurs || jwtId === undefined || nextScheduledRotation === undefined) return null;
  const dueAt = Date.parse(nextScheduledRotation);
  return Number.isNaN(dueAt) ? null : { key: name, tokenId: jwtId, dueAt, manifest };
}

/** A virtual account. Creating it returns a one-time token. */
export const kind: Kind = defineKind<VirtualAccountManifest>({
  type: "virtual-account",
  key: ({ name }) => name,
  group: () => null,
  list: { operation: "listVirtualAccounts", row },
  cannotRead: "no documented operation reads virtual accounts",
  writeRoutes: [{ operation: "putVirtualAccount", dryRun: "putVirtualAccount", row }],
  // With a secret store the server keeps the token itself, so losing our copy does no harm.
  issuesToken: ({ secret_store_config }) => !secret_store_config,
  rotation: {
    operation: "reissueVirtualAccount",
    path: (name) => ({ name }),
    list: "listVirtualAccounts",
    row: scheduled,
  },
});
