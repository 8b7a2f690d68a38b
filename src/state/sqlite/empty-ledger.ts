import type { SealKey } from "../../seal/seal-key.ts";
import type { Ledger } from "../ledger.ts";
import { receiptDigest } from "../receipt-digest.ts";
import { noFacts } from "../server-facts.ts";

/** The ledger of a read-only run where no ledger can be stored: it has no receipts and refuses writes. */
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
    storeFactsWithNext: () => undefined,
    storeWaitingFacts: async () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  };
}
