import type { Cause } from "../../contract/generated/output.ts";
import { equal, type Json } from "../../contract/json.ts";

export type { Cause } from "../../contract/generated/output.ts";

/** One field on each side, defaults filled in; undefined when absent. */
export type FieldViews = {
  readonly desired: Json | undefined;
  readonly live: Json | undefined;
  /** Null when the ledger has no record. */
  readonly recorded: { readonly written: Json | undefined; readonly returned: Json | undefined } | null;
  /** The value that was applied last, when that replaces a missing record. @default it is not known */
  readonly applied?: { readonly desired: Json | undefined } | null;
  /** Null when there is no base commit to compare with. */
  readonly base: { readonly desired: Json | undefined } | null;
  /** Whether the manifest itself sets the field; the server adds fields that it does not set. */
  readonly isGiven: boolean;
};

/** The cause of a difference: which of manifest and live changed since the last write. If none did, the server did. */
export function fieldCauseOf(views: FieldViews): Cause {
  const { desired, live, recorded, applied, base, isGiven } = views;
  if (recorded === null) {
    if (!isGiven && live === undefined) return "default";
    if (base !== null && !equal(desired, base.desired)) return "manifest";
    return applied ? causeByApplied(views, applied) : "unrecorded";
  }
  const desiredMoved = !equal(desired, recorded.written);
  const liveMoved = !equal(live, recorded.returned);
  if (desiredMoved && liveMoved) return "conflict";
  if (liveMoved) return "drift";
  if (!desiredMoved) return isGiven ? "server" : "default";
  return base !== null && equal(desired, base.desired) ? "pending" : "manifest";
}

// Without a record, only what was applied last shows whether live has changed.
function causeByApplied({ desired, live, base }: FieldViews, applied: { readonly desired: Json | undefined }): Cause {
  const [desiredMoved, liveMoved] = [!equal(desired, applied.desired), !equal(live, applied.desired)];
  if (desiredMoved && liveMoved) return "conflict";
  if (liveMoved) return "drift";
  if (!desiredMoved) return "unrecorded";
  return base === null ? "manifest" : "pending";
}

/** Whether the change under review caused a difference: compared with the base, or with the record without one. */
export function isOfThisChange({ desired, base }: FieldViews, cause: Cause): boolean {
  if (cause !== "conflict") return cause === "manifest";
  return base === null || !equal(desired, base.desired);
}

/** Whether a difference is acted on: not if a rule ignores it, nor if only the server adds or rewrites the field. */
export function isActedOn(cause: Cause): boolean {
  return cause !== "ignored" && cause !== "default" && cause !== "server";
}
