import type { Store } from "./store.ts";

/** The same store, which tells how long each write took until it was durable. */
export function measuredStore<Tables>(store: Store<Tables>, onWrite: (milliseconds: number) => void): Store<Tables> {
  return {
    ...store,
    write: async (change) => {
      const begunAt = performance.now();
      const result = await store.write(change);
      onWrite(performance.now() - begunAt);
      return result;
    },
  };
}
