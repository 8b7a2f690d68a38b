import type { TransferOptions, Transferred } from "./state.ts";

/** Copies a state into a folder that is not there yet. */
export async function exportState(state: string, to: string, options: TransferOptions): Promise<Transferred> {
  return (await import("./sqlite/export-state.ts")).exportSqliteState(state, to, options);
}

/** Makes a state from an exported folder. */
export async function importState(from: string, state: string, options: TransferOptions): Promise<Transferred> {
  return (await import("./sqlite/import-state.ts")).importSqliteState(from, state, options);
}
