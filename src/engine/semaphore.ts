/** Runs work once a slot is free. */
export type Semaphore = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** A semaphore with so many slots; waiting callers are served in order. */
export function createSemaphore(places: number): Semaphore {
  const waiting: (() => void)[] = [];
  let free = places;
  const leave = (): void => {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  };
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      leave();
    }
  };
}

/** Runs work for each item with bounded concurrency, in order; the first failure ends it. */
export async function forEachConcurrently<Item>(
  items: readonly Item[],
  places: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const rest = items.values();
  let isOver = false;
  const worker = async (): Promise<void> => {
    for (const item of rest) {
      if (isOver) return;
      await work(item);
    }
  };
  const workers = Array.from({ length: Math.min(places, items.length) }, worker);
  await Promise.all(workers).finally(() => {
    isOver = true;
  });
}
