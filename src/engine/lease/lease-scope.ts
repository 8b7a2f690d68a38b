import { groupOf } from "../../core/kind.ts";
import type { ManifestHead } from "../../core/manifest.ts";
import { kindOf } from "../../kinds/index.ts";

/** The tenant of the server that grants leases: the scope above all others. */
export const TENANT_SCOPE = "holdfast";

/** What a source writes to, as far as one lease can name it: its one workspace, or everything. */
export function leaseScope(manifests: readonly ManifestHead[]): string {
  const [first] = manifests;
  const only = first === undefined ? null : groupOf(first, kindOf);
  if (!only?.includes(":")) return TENANT_SCOPE;
  return manifests.every((manifest) => groupOf(manifest, kindOf) === only) ? only : TENANT_SCOPE;
}
