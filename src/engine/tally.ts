import { createHmac } from "node:crypto";
import type { JsonObject } from "../contract/json.ts";
import { deriveKey, keyObject, type SealKey } from "../seal/key.ts";

/**
 * Tells by what a receipt's inside is recognised without opening it: a keyed digest, which says nothing to anybody
 * else. The same fields in another order have another one, and are looked at.
 */
export type Tally = (written: JsonObject, echo: JsonObject) => string;

/** The tally of the receipts of one ledger. */
export function tallyWith(key: SealKey): Tally {
  const own = keyObject(deriveKey(key, "receipt tally"));
  return (written, echo) =>
    createHmac("sha256", own)
      .update(JSON.stringify([written, echo]))
      .digest("base64");
}
