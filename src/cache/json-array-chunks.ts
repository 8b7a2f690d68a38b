// Item by item a text would take longer to seal.
const PIECE = 2000;

/** Writes the items of a JSON array in pieces, without its brackets: the whole may be larger than all else that a run holds. */
export function* jsonArrayChunks<Item>(items: Iterable<Item>, written: (item: Item) => unknown): Generator<string> {
  let piece: string[] = [];
  let separator = "";
  for (const item of items) {
    piece.push(separator, JSON.stringify(written(item)));
    separator = ",";
    if (piece.length < PIECE) continue;
    yield piece.join("");
    piece = [];
  }
  yield piece.join("");
}
