import { createHmac } from "node:crypto";
import type { Recorded } from "../core/recorded.ts";
import { deriveKey, keyObject, type SealKey } from "../seal/key.ts";

/** The inside of a receipt, as it is sealed. */
export type Inside = Pick<Recorded, "written" | "echo" | "unrecorded">;

/** Writes the inside of a receipt. */
export function insideText({ written, echo, unrecorded }: Inside): string {
  return JSON.stringify({ written, echo, unrecorded });
}

/**
 * Tells by what an inside is recognised without opening it: a keyed digest, which says nothing to anybody else. The same
 * fields in another order have another one, and are looked at.
 */
export type Tally = (inside: string) => string;

/** The tally of the receipts of one ledger. */
export function tallyWith(key: SealKey): Tally {
  const own = keyObject(deriveKey(key, "receipt tally"));
  return (inside) => createHmac("sha256", own).update(inside).digest("base64");
}
