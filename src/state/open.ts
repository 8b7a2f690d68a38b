import type { SealKey } from "../seal/seal-key.ts";
import { existingKeyIn, isFolderHeld, openSqliteState } from "./sqlite/state.ts";
import type { State, StateOptions } from "./state.ts";

/** Opens the state that `--state` names, making it when absent. */
export function openState(place: string, options: StateOptions): Promise<State> {
  return openSqliteState(place, options);
}

/** The key of the state that `--state` names, without making one; null where there is none, or it cannot be used. */
export function existingKey(place: string, options: Pick<StateOptions, "keyText">): Promise<SealKey | null> {
  return existingKeyIn(place, options);
}

/**
 * Whether the holder of a lease, by the name that a state gave it, writes at this moment; null where its state is not on
 * this machine.
 */
export function isHolderAlive(holder: string): boolean | null {
  return isFolderHeld(holder);
}
