import type { LiveRow } from "../../core/kind.ts";
import type { Intent } from "../../state/ledger.ts";

/** The two clocks, in epoch milliseconds: ours, and the control plane's, which may not be known. */
export type Clocks = { readonly now: () => number; readonly serverTime: () => number | null };

/**
 * Whether a resource was created since a request was first about to be sent: creation time and current time are both
 * read from the control plane, and only the age of the request is measured by our clock.
 */
export function isCreatedSince(
  { at }: Pick<Intent, "at">,
  { createdAt = "" }: Pick<LiveRow, "createdAt">,
  clocks: Clocks,
): boolean {
  const serverNow = clocks.serverTime();
  return at !== null && serverNow !== null && Date.parse(createdAt) >= serverNow - (clocks.now() - at);
}
