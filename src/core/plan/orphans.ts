import type { Orphan } from "../../contract/generated/output.ts";
import { compareText } from "../../contract/json.ts";
import type { Identity } from "../manifest.ts";
import type { PlanInput } from "./plan-input.ts";

/** What decides which resources are orphans. */
export type OrphanInput = Pick<
  PlanInput,
  "recorded" | "declared" | "live" | "base" | "applied" | "removed" | "elsewhere"
>;

/** An identity that the source no longer declares, and what is known of it. */
export type FoundOrphan = Orphan & { readonly identity: Identity };

const THIS_CHANGE = { commit: null, author: null, at: null };

/**
 * Resources that still live, or may, and that the source no longer declares: recorded ones, those that the history has
 * declared, and with a base those that the change removes. What another target declares is none.
 */
export function findOrphans(input: OrphanInput): readonly FoundOrphan[] {
  const { recorded, declared, live, removed, elsewhere, base } = input;
  return [...knownIn(input)]
    .filter((identity) => !declared.has(identity) && !elsewhere.has(identity) && live.get(identity)?.state !== "absent")
    .toSorted(compareText)
    .map((identity) => {
      const found = live.get(identity);
      const isHidden = found?.state === "unknown" && found.reason === "not-visible";
      const by = base?.has(identity) ? THIS_CHANGE : removed.get(identity);
      return {
        identity,
        recorded: recorded.has(identity),
        isLive: found?.state !== "unknown" || found.exists === true,
        ...(isHidden ? { notVisible: true as const } : {}),
        ...(by === undefined ? {} : { removedBy: by }),
      };
    });
}

/** Every identity that may be an orphan; most of them are declared. */
export function knownIn({
  recorded,
  base,
  applied,
  removed,
}: Pick<OrphanInput, "base" | "applied" | "removed"> & {
  readonly recorded: ReadonlyMap<Identity, unknown>;
}): ReadonlySet<Identity> {
  const compared = base === null ? [] : [...base.keys(), ...(applied?.keys() ?? [])];
  return new Set([...recorded.keys(), ...compared, ...removed.keys()]);
}
