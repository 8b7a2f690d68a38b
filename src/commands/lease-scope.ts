import { groupOf } from "./looking.ts";
import type { Prepared } from "./prepare.ts";

// The tenant's name: the scope above all others.
const EVERYTHING = "holdfast";

/** What a source writes to, as far as one lease can name it: its one workspace, or everything. */
export function leaseScope({ loaded }: Pick<Prepared, "loaded">): string {
  const groups = new Set(loaded.manifests.map(groupOf));
  const [only] = groups;
  return groups.size === 1 && only?.includes(":") ? only : EVERYTHING;
}
