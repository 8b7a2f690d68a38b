import type { LiveRow } from "../../core/kind.ts";
import type { Intent } from "../../state/ledger.ts";

/** The time by our clock and by the control plane's, in epoch milliseconds; the latter may be unknown. */
export type Times = { readonly now: number; readonly serverNow: number | null };

/**
 * Whether a resource was created since a request was first ready to be sent. The creation time and the current time both
 * come from the control plane; only the age of the request is measured by our clock. The current time is in whole seconds
 * (RFC 9110, 6.6.1), so a resource that others created within the second before counts as created since.
 */
export function isCreatedSince(
  { at }: Pick<Intent, "at">,
  { createdAt = "" }: Pick<LiveRow, "createdAt">,
  { now, serverNow }: Times,
): boolean {
  return at !== null && serverNow !== null && Date.parse(createdAt) >= serverNow - (now - at);
}
