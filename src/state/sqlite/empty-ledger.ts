import type { SealKey } from "../../seal/seal-key.ts";
import type { Ledger } from "../ledger.ts";
import { receiptDigest } from "../receipt-digest.ts";
import { noFacts } from "../server-facts.ts";

/** The ledger of a run that only reads, where none can be kept: it has no receipts, and refuses to be written. */
export function emptyLedger(key: SealKey): Ledger {
  const refused = () => Promise.reject(new TypeError("a run without a ledger cannot write"));
  return {
    heads: async () => new Map(),
    digest: receiptDigest(key),
    recorded: async () => new Map(),
    record: refused,
    forget: refused,
    begin: refused,
    keepReply: refused,
    close: refused,
    pending: async () => [],
    facts: async () => noFacts,
    storeFacts: async () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  };
}
