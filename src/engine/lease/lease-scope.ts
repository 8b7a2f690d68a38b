import { groupOf } from "../../core/kind.ts";
import type { ManifestHead } from "../../core/manifest.ts";
import { kindsByType } from "../../kinds/index.ts";

/** The lease scope of the whole tenant, which overlaps with every other scope. */
export const TENANT_SCOPE = "holdfast";

/** The narrowest lease scope that covers a source: its workspace if it has only one, otherwise the whole tenant. */
export function leaseScope(manifests: readonly ManifestHead[]): string {
  const [first] = manifests;
  const only = first === undefined ? null : groupOf(first, kindsByType);
  if (!only?.includes(":")) return TENANT_SCOPE;
  return manifests.every((manifest) => groupOf(manifest, kindsByType) === only) ? only : TENANT_SCOPE;
}
