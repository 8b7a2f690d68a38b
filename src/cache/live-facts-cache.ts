import type { Clock } from "../clock/clock.ts";
import type { Identity } from "../core/manifest.ts";
import type { SealKey } from "../seal/seal-key.ts";
import { readSealed, writeSealed } from "../seal/sealed-file.ts";
import type { ReceiptHead } from "../state/ledger.ts";
import type { OnForgotten } from "../state/state.ts";
import { storageErrorAt } from "../store/store-error.ts";
import { type LiveFacts, NO_LIVE_FACTS, readLiveFacts, writeLiveFacts } from "./live-facts.ts";

/** Keeps the facts about one control plane from pass to pass. */
export type LiveCache = {
  /** The facts. The receipts must be those of the same control plane. */
  readonly load: (recorded: ReadonlyMap<Identity, ReceiptHead>) => LiveFacts;
  readonly save: (facts: LiveFacts) => void;
};

/** Which control plane and build a cache belongs to. */
export type LiveCacheOptions = {
  readonly clock: Clock;
  readonly server: string;
  readonly key: SealKey;
  readonly build: string;
  /** Called if the file cannot be written; null if nothing can be stored, which was then reported already. */
  readonly onForgotten: OnForgotten | null;
};

/**
 * Keeps the facts about one control plane in memory, and between runs in a sealed file. A file that cannot be read, or
 * that another build or a run against another server wrote, is ignored.
 */
export function liveCacheIn(path: string, { clock, server, key, build, onForgotten }: LiveCacheOptions): LiveCache {
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
      const failure = writeSealed(path, { key, name, clock }, writeLiveFacts(facts));
      if (failure !== null) onForgotten("what was read of the control plane", storageErrorAt(path, failure));
    },
  };
}
