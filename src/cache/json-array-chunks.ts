// Sealing is faster in chunks than item by item.
const ITEMS_PER_CHUNK = 2000;

/**
 * Writes the items of a JSON array in chunks, without its brackets: the whole text may need more memory than the rest
 * of a run.
 */
export function* jsonArrayChunks<Item>(items: Iterable<Item>, toJson: (item: Item) => unknown): Generator<string> {
  let chunk: string[] = [];
  let separator = "";
  for (const item of items) {
    chunk.push(separator, JSON.stringify(toJson(item)));
    separator = ",";
    if (chunk.length < ITEMS_PER_CHUNK) continue;
    yield chunk.join("");
    chunk = [];
  }
  yield chunk.join("");
}
