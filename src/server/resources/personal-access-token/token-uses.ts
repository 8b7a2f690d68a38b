import type { Store } from "../../../store/store.ts";
import type { Tables } from "../../database/tables.ts";

// Who asks when a token was last used wants to know whether it is in use at all.
const COARSE_MS = 10 * 60_000;

/** When personal access tokens were last used: noted in memory, and kept in batches. */
export type TokenUses = {
  /** Notes that a token is used now, unless what is `kept` of it says nearly the same. */
  readonly note: (id: string, kept: number | null) => void;
  /** When a token was last used, as far as that is not kept yet. */
  readonly unkept: (id: string) => number | null;
  /** Keeps what was noted, in one transaction. */
  readonly keep: () => Promise<void>;
};

/** Makes the notes of when tokens were last used. */
export function createTokenUses(store: Pick<Store<Tables>, "write">, now: () => number): TokenUses {
  const noted = new Map<string, number>();
  return {
    note: (id, kept) => {
      const moment = now();
      if (kept === null || moment - Number(kept) >= COARSE_MS) noted.set(id, moment);
    },
    unkept: (id) => noted.get(id) ?? null,
    keep: async () => {
      if (noted.size === 0) return;
      const batch = [...noted];
      const last_used_at = Math.max(...batch.map(([, moment]) => moment));
      await store.write(async (transaction) => {
        // A statement takes a limited number of values.
        for (let at = 0; at < batch.length; at += 500) {
          const ids = batch.slice(at, at + 500).map(([id]) => id);
          await transaction.updateTable("personal_tokens").set({ last_used_at }).where("id", "in", ids).execute();
        }
      });
      for (const [id, moment] of batch) if (noted.get(id) === moment) noted.delete(id);
    },
  };
}
