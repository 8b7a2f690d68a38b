import type { LiveRow } from "../core/kind.ts";
import type { Intent } from "../state/ledger.ts";

/** The two clocks, in epoch milliseconds: ours, and the control plane's, which may not be known. */
export type Clocks = { readonly now: () => number; readonly serverTime: () => number | null };

/**
 * Whether a resource was made since a request was first about to be sent: when it was made and what time it is are both
 * the control plane's word, and only how long ago the request was is ours.
 */
export function isCreatedSince(
  { at }: Pick<Intent, "at">,
  { madeAt = "" }: Pick<LiveRow, "madeAt">,
  clocks: Clocks,
): boolean {
  const serverNow = clocks.serverTime();
  return at !== null && serverNow !== null && Date.parse(madeAt) >= serverNow - (clocks.now() - at);
}
