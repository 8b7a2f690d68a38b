import type { Identity } from "../core/manifest.ts";
import type { SealKey } from "../seal/seal-key.ts";
import { readSealed, writeSealed } from "../seal/sealed-file.ts";
import type { ReceiptHead } from "../state/ledger.ts";
import type { OnForgotten } from "../state/state.ts";
import { storageErrorAt } from "../store/store-error.ts";
import { type LiveFacts, NO_LIVE_FACTS, readLiveFacts, writeLiveFacts } from "./live-facts.ts";

/** Where the facts of one control plane are kept from pass to pass. */
export type LiveCache = {
  /** The facts; the receipts are those of the same control plane. */
  readonly load: (recorded: ReadonlyMap<Identity, ReceiptHead>) => LiveFacts;
  readonly save: (facts: LiveFacts) => void;
};

/** Whose cache it is. */
export type LiveCacheFor = {
  readonly server: string;
  readonly key: SealKey;
  readonly build: string;
  /** Null where nothing can be kept, and that was told. */
  readonly onForgotten: OnForgotten | null;
};

/**
 * Keeps the facts of one control plane in memory, and between runs in a sealed file, for this build alone: whatever
 * cannot be read, was made by another build or for another server counts as nothing.
 */
export function liveCacheIn(path: string, { server, key, build, onForgotten }: LiveCacheFor): LiveCache {
  const name = `live cache of ${server} by ${build}`;
  let known: LiveFacts | null = null;
  const read = (recorded: ReadonlyMap<Identity, ReceiptHead>): LiveFacts => {
    const text = readSealed(path, key, name);
    return text === null ? NO_LIVE_FACTS : readLiveFacts(text, recorded);
  };
  return {
    load: (recorded) => {
      known ??= read(recorded);
      return known;
    },
    save: (facts) => {
      known = facts;
      if (onForgotten === null) return;
      const failure = writeSealed(path, key, name, writeLiveFacts(facts));
      if (failure !== null) onForgotten("what was read of the control plane", storageErrorAt(path, failure));
    },
  };
}
