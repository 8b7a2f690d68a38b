/** What is durable, or decides what becomes durable, and must never be wrong. */
export type DurableBorder = "journal" | "ledger" | "fence" | "seal" | "receipt";

/** A bug of ours was noticed before it became durable. It ends the pass, and the next pass tries again. */
export class InvariantError extends Error {
  override readonly name = "InvariantError";

  constructor(border: DurableBorder, must: string) {
    super(`a bug in Holdfast: at the ${border}, ${must}; nothing of it was stored, please report this`);
  }
}

/** Fails unless what must hold at a durable border does. `must` is a sentence about what must. */
export function requireInvariant(holds: boolean, border: DurableBorder, must: string): asserts holds {
  if (!holds) throw new InvariantError(border, must);
}
