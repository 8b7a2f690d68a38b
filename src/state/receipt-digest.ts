import { createHmac } from "node:crypto";
import type { ReceiptContent } from "../core/recorded.ts";
import { deriveKey, keyObject, type SealKey } from "../seal/seal-key.ts";

/** The content of a receipt as text, with the names that ledgers have had from the beginning. */
export function contentText({ written, returned, unrecorded }: ReceiptContent): string {
  return JSON.stringify({ written, echo: returned, unrecorded });
}

/**
 * Computes the keyed digest of a receipt's content, which identifies the content without unsealing it. Without the key
 * it reveals nothing. The same fields in another order have another digest; such contents are compared in full.
 */
export type ReceiptDigest = (content: string) => string;

/** Creates the digest function for the receipts of one ledger. */
export function receiptDigest(key: SealKey): ReceiptDigest {
  const own = keyObject(deriveKey(key, "receipt tally"));
  return (content) => createHmac("sha256", own).update(content).digest("base64");
}
