import { exists, type LiveView } from "../live.ts";
import type { Identity, ManifestHead } from "../manifest.ts";
import { parentByName, parentOf } from "../parent.ts";
import { writes } from "../plan/plan.ts";
import type { Decision } from "./decision.ts";

/** The input of the visibility check. */
type Seen = LiveView & {
  readonly desired: readonly { readonly manifest: ManifestHead }[];
  readonly declared: ReadonlySet<Identity>;
  readonly seesAll: boolean;
};

/** Whether a resource that no list shows may still exist, hidden from this token. */
export type IsHidden = (manifest: ManifestHead, decisions: ReadonlyMap<Identity, Decision>) => boolean;

/**
 * Returns a check for hidden resources. If a role shows the whole tenant, nothing is hidden. If the parent (workspace,
 * cluster or repo) is visible or created by this plan, a resource missing from a list does not exist; if the parent is
 * not visible, its existence is unknown. The parent of a visible resource exists.
 */
export function hiddenFrom(seen: Seen): IsHidden {
  if (seen.seesAll) return () => false;
  let visibleParents: ReadonlySet<Identity> | null = null;
  return (manifest, decisions) => {
    const parent = parentOf(manifest);
    if (parent === null) {
      if (seen.live.get(manifest.identity)?.state !== "absent") return false;
      visibleParents ??= parentsOfVisible(seen);
      return visibleParents.has(manifest.identity);
    }
    return isParentHidden(parent, seen, decisions);
  };
}

function isParentHidden(parent: Identity, seen: Seen, decisions: ReadonlyMap<Identity, Decision>): boolean {
  if (exists(seen, parent)) return false;
  const decision = decisions.get(parent);
  // A declared parent that this plan does not create has its own step.
  if (decision !== undefined) return !writes(decision) && decision.isHidden === true;
  if (seen.declared.has(parent) || seen.live.get(parent)?.state !== "absent") return false;
  const above = parentByName(parent);
  return above === null || !exists(seen, above);
}

function parentsOfVisible(seen: Seen): ReadonlySet<Identity> {
  const visible = seen.desired.filter(({ manifest }) => exists(seen, manifest.identity));
  return new Set(visible.flatMap(({ manifest }) => parentOf(manifest) ?? []));
}
