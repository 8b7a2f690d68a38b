import type { LiveRow } from "./kind.ts";
import type { Identity } from "./manifest.ts";

/** Why the live state of a resource that may exist could not be read. */
export type UnknownReason =
  /** The control plane has no operation that reads this kind. */
  | "no-read"
  /** It may exist where this token does not see it. */
  | "not-visible"
  /** The control plane refused the dry run that would show it; it would refuse the write too. */
  | "refused"
  /** Another kind has the name. */
  | "type-changed"
  /** The read failed; the plan is not complete. */
  | "unreadable";

/** The live state of one identity: present, absent or unknown. */
export type Live =
  | { readonly state: "present"; readonly row: LiveRow }
  /** `newest`: the highest existing version of the name, when the kind has versions. */
  | { readonly state: "absent"; readonly newest?: number }
  | {
      readonly state: "unknown";
      readonly reason: UnknownReason;
      readonly detail?: string;
      /** A dry run showed that it exists, but not its content. */
      readonly exists?: true;
    };

/**
 * Resources known to be in sync, for which no decision is made: according to live, or to the ledger when live cannot be
 * read. For a resource that is not declared, "live" means only that it exists.
 */
export type InSync = ReadonlyMap<Identity, "live" | "ledger">;

/** The live state of each resource, except those known to be in sync by live. */
export type LiveView = { readonly live: ReadonlyMap<Identity, Live>; readonly inSync: InSync };

/** Whether a resource is known to exist. */
export function exists({ live, inSync }: LiveView, identity: Identity): boolean {
  return inSync.get(identity) === "live" || live.get(identity)?.state === "present";
}
