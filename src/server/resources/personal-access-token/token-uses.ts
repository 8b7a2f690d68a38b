import type { Clock } from "../../../clock/clock.ts";
import { chunks } from "../../../store/prepared-query.ts";
import type { Store } from "../../../store/store.ts";
import type { Tables } from "../../database/tables.ts";

// The time need not be precise: it shows whether a token is in use.
const PRECISION_MS = 10 * 60_000;

/** When personal access tokens were last used: collected in memory, and saved in batches. */
export type TokenUses = {
  /** Records that a token is used now, unless the `saved` time is recent. */
  readonly record: (id: string, saved: number | null) => void;
  /** When a token was last used, if that is not saved yet. */
  readonly unsaved: (id: string) => number | null;
  /** Saves the recorded times in one transaction. */
  readonly save: () => Promise<void>;
};

/** Creates the record of token uses. */
export function createTokenUses(store: Store<Tables>, clock: Clock): TokenUses {
  const recorded = new Map<string, number>();
  return {
    record: (id, saved) => {
      const moment = clock.now();
      if (saved === null || moment - Number(saved) >= PRECISION_MS) recorded.set(id, moment);
    },
    unsaved: (id) => recorded.get(id) ?? null,
    save: async () => {
      if (recorded.size === 0) return;
      const batch = [...recorded];
      const last_used_at = Math.max(...batch.map(([, moment]) => moment));
      await store.write(async (transaction) => {
        for (const part of chunks(batch)) {
          const ids = part.map(([id]) => id);
          await transaction.updateTable("personal_tokens").set({ last_used_at }).where("id", "in", ids).execute();
        }
      });
      for (const [id, moment] of batch) if (recorded.get(id) === moment) recorded.delete(id);
    },
  };
}
