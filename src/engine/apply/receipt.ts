import type { JsonObject } from "../../contract/json.ts";
import type { Kind, LiveRow } from "../../core/kind.ts";
import type { Identity } from "../../core/manifest.ts";
import { type Recorded, withoutIgnored } from "../../core/recorded.ts";
import type { Ledger } from "../../state/ledger.ts";

/** What was written. */
type Sent = {
  readonly kind: Kind;
  readonly identity: Identity;
  readonly written: JsonObject;
  /** The paths with live's values, since an ignore rule leaves them to another writer. */
  readonly ignored: readonly (readonly string[])[];
};

/** What a write made or found; its manifest is null where it was not read. */
export type WrittenRow = Pick<LiveRow, "id" | "version"> & { readonly manifest: JsonObject | null };

/**
 * The receipt of a write, or of an equal live resource; `known` is the earlier receipt.
 */
export function createReceipt(
  { kind, identity, written, ignored }: Sent,
  row: WrittenRow,
  { known, at }: { readonly known: Recorded | null; readonly at: number },
): Recorded {
  const version = row.version ?? null;
  const receipt = { identity, kind: kind.type, id: row.id, written, returned: row.manifest, version, at };
  return withoutIgnored(kind.shape, receipt, { ignored, known });
}

/**
 * Whether the ledger has a live resource by its id: then it existed before, and its one-time token was delivered or reported
 * as lost.
 */
export async function isRecorded(identity: Identity, { id }: LiveRow, { recorded }: Ledger): Promise<boolean> {
  return id !== null && (await recorded([identity])).get(identity)?.id === id;
}
