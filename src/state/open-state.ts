import type { Identity } from "../core/manifest.ts";
import type { SealKey } from "../seal/seal-key.ts";
import { existingKeyIn, isFolderHeld, isFolderLocked, sqliteStateAt } from "./sqlite/sqlite-state.ts";
import type { StateAccess, StateAccessOptions, StateOptions, TransferOptions, Transferred } from "./state.ts";

/** The state that `--state` names; nothing is opened or created yet. */
export function stateAt(place: string, options: StateAccessOptions): StateAccess {
  return sqliteStateAt(place, options);
}

/** The newest migration of a state's ledgers. */
export async function stateSchema(): Promise<string | null> {
  const { stateMigrations } = await import("./sqlite/state-schema.ts");
  return Object.keys(stateMigrations()).toSorted().at(-1) ?? null;
}

/** The key of the state that `--state` names, without creating one; null if it is missing or cannot be used. */
export function existingKey(place: string, options: StateOptions): Promise<SealKey | null> {
  return existingKeyIn(place, options);
}

/**
 * Whether the holder of a lease is writing at this moment, by the holder's name from its state; null if that state is
 * not on this machine.
 */
export function isHolderAlive(holder: string): boolean | null {
  return isFolderHeld(holder);
}

/** Whether a process is writing with the state that `--state` names. */
export function isStateLocked(place: string): boolean {
  return isFolderLocked(place);
}

/** Copies a state into a new folder. */
export async function exportState(state: string, to: string, options: TransferOptions): Promise<Transferred> {
  return (await import("./sqlite/export-state.ts")).exportSqliteState(state, to, options);
}

/** Creates a state from an exported folder. */
export async function importState(from: string, state: string, options: TransferOptions): Promise<Transferred> {
  return (await import("./sqlite/import-state.ts")).importSqliteState(from, state, options);
}

/** The resources that a state has records of, on any server. */
export async function recordedIdentities(place: string): Promise<readonly Identity[]> {
  return (await import("./sqlite/recorded-names.ts")).recordedNames(place);
}
