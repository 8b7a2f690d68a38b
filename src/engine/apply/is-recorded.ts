import type { LiveRow } from "../../core/kind.ts";
import type { Identity } from "../../core/manifest.ts";
import type { Ledger } from "../../state/ledger.ts";

/**
 * Whether the ledger has a live resource by its id: then it existed before, and its one-time token was delivered or reported
 * as lost.
 */
export async function isRecorded(
  identity: Identity,
  { id }: Pick<LiveRow, "id">,
  { recorded }: Pick<Ledger, "recorded">,
): Promise<boolean> {
  return id !== null && (await recorded([identity])).get(identity)?.id === id;
}
