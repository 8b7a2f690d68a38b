import type { SealKey } from "../seal/seal-key.ts";
import { existingKeyIn, isFolderHeld, openSqliteState } from "./sqlite/sqlite-state.ts";
import type { State, StateOptions, TransferOptions, Transferred } from "./state.ts";

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

/** Copies a state into a folder that is not there yet. */
export async function exportState(state: string, to: string, options: TransferOptions): Promise<Transferred> {
  return (await import("./sqlite/export-state.ts")).exportSqliteState(state, to, options);
}

/** Makes a state from an exported folder. */
export async function importState(from: string, state: string, options: TransferOptions): Promise<Transferred> {
  return (await import("./sqlite/import-state.ts")).importSqliteState(from, state, options);
}
