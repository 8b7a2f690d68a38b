import type { LiveRow } from "./kind.ts";
import type { Identity } from "./manifest.ts";

/** Why live could not be read although it may be there. */
export type UnknownReason =
  /** The control plane has no way to read this kind. */
  | "no-read"
  /** The caller may not dry-run the write that would tell. */
  | "needs-write"
  /** The control plane refused the dry run that would tell; the write would be refused too. */
  | "refused"
  /** Another kind has the name. */
  | "type-changed"
  /** The read failed; the plan is not complete. */
  | "unreadable";

/** What is live of one identity: there, not there, or honestly unknown. */
export type Live =
  | { readonly state: "present"; readonly row: LiveRow }
  /** `newest`: the highest version that exists under the name, where the kind has versions. */
  | { readonly state: "absent"; readonly newest?: number }
  | {
      readonly state: "unknown";
      readonly reason: UnknownReason;
      readonly detail?: string;
      /** A dry run showed that it exists, but not its content. */
      readonly exists?: true;
    };

/**
 * Resources that are known to be in sync, so that nothing is decided about them: by live, or by the ledger where live
 * cannot be read. Of one that is not declared, by live says only that it is there.
 */
export type InSync = ReadonlyMap<Identity, "live" | "ledger">;

/** What is live of each resource, but for those that are known to be in sync by live. */
export type LiveView = { readonly live: ReadonlyMap<Identity, Live>; readonly inSync: InSync };

/** Whether a resource is known to be there. */
export function exists({ live, inSync }: LiveView, identity: Identity): boolean {
  return inSync.get(identity) === "live" || live.get(identity)?.state === "present";
}
