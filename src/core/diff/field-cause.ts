import type { Cause } from "../../contract/generated/output.ts";
import { equal, type Json } from "../../contract/json.ts";

export type { Cause } from "../../contract/generated/output.ts";

/** One field as everybody has it, defaults filled in; undefined where it is absent. */
export type FieldViews = {
  readonly desired: Json | undefined;
  readonly live: Json | undefined;
  /** Null when the ledger has no record. */
  readonly recorded: { readonly written: Json | undefined; readonly echo: Json | undefined } | null;
  /** As the commit that was applied last has it, where that stands in for a record. @default nothing does */
  readonly applied?: { readonly desired: Json | undefined } | null;
  /** Null when there is no base commit to compare with. */
  readonly base: { readonly desired: Json | undefined } | null;
  /** Whether the manifest itself names the field: what it does not name, the server adds. */
  readonly isGiven: boolean;
};

/** The cause of a difference: which of manifest and live changed since the last write; neither means the server did. */
export function fieldCauseOf(views: FieldViews): Cause {
  const { desired, live, recorded, base, isGiven } = views;
  if (recorded === null) {
    if (!isGiven && live === undefined) return "default";
    return base === null || equal(desired, base.desired) ? causeByApplied(views) : "manifest";
  }
  const desiredMoved = !equal(desired, recorded.written);
  const liveMoved = !equal(live, recorded.echo);
  if (desiredMoved && liveMoved) return "conflict";
  if (liveMoved) return "drift";
  if (!desiredMoved) return isGiven ? "server" : "default";
  return base !== null && equal(desired, base.desired) ? "pending" : "manifest";
}

// Without a record nobody knows whether live has moved, unless the repository tells what was applied.
function causeByApplied({ desired, live, applied }: FieldViews): Cause {
  if (!applied) return "unrecorded";
  const [desiredMoved, liveMoved] = [!equal(desired, applied.desired), !equal(live, applied.desired)];
  if (desiredMoved) return liveMoved ? "conflict" : "pending";
  return liveMoved ? "drift" : "unrecorded";
}

/** Whether the change under review made a difference: against the base where there is one, else against the record. */
export function isOfThisChange({ desired, base }: FieldViews, cause: Cause): boolean {
  if (cause !== "conflict") return cause === "manifest";
  return base === null || !equal(desired, base.desired);
}

/** Whether a difference is acted on: what a rule suppresses, or what the server alone adds or rewrites, is not. */
export function isActedOn(cause: Cause): boolean {
  return cause !== "ignored" && cause !== "default" && cause !== "server";
}
