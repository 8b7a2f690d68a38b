import { createHmac } from "node:crypto";
import type { Recorded } from "../core/recorded.ts";
import { deriveKey, keyObject, type SealKey } from "../seal/seal-key.ts";

/** The content of a receipt, as it is sealed. */
export type ReceiptContent = Pick<Recorded, "written" | "echo" | "unrecorded">;

/** The content of a receipt as text. */
export function contentText({ written, echo, unrecorded }: ReceiptContent): string {
  return JSON.stringify({ written, echo, unrecorded });
}

/**
 * Answers the keyed digest of a receipt's content, by which it is recognised without being opened. Without the key it
 * says nothing of the content. The same fields in another order have another digest, and are compared in full.
 */
export type ReceiptDigest = (content: string) => string;

/** Makes the digests of the receipts of one ledger. */
export function receiptDigest(key: SealKey): ReceiptDigest {
  const own = keyObject(deriveKey(key, "receipt tally"));
  return (content) => createHmac("sha256", own).update(content).digest("base64");
}
