import type { Secret } from "../contract/secret.ts";
import { HoldfastError } from "../core/errors.ts";
import type { SealKey } from "../seal/seal-key.ts";
import { publicAddress } from "../store/postgres/address.ts";
import type { LedgerSource } from "./sqlite/export-state.ts";
import type { LedgerDestination } from "./sqlite/import-state.ts";
import { existingKeyIn, isFolderHeld, sqliteStateAt } from "./sqlite/sqlite-state.ts";
import type {
  DatabasePlace,
  RecordedClaims,
  StateAccess,
  StateAccessOptions,
  StateTransfer,
  Transferred,
} from "./state.ts";

/** The state in a folder; nothing is opened or created yet. */
export function stateAt(folder: string, options: StateAccessOptions): StateAccess {
  return sqliteStateAt(folder, options);
}

/** The state in a PostgreSQL database; nothing is opened or created yet. */
export function databaseStateAt(place: DatabasePlace, options: StateAccessOptions): StateAccess {
  let access: Promise<StateAccess> | null = null;
  // Imported at the first use, so that commands with a folder do not load the driver.
  const opened = (): Promise<StateAccess> => {
    access ??= import("./postgres/postgres-state.ts").then(({ postgresStateAt }) => postgresStateAt(place, options));
    return access;
  };
  return {
    open: async (how) => (await opened()).open(how),
    target: async () => (await opened()).target(),
    recorded: async () => (await opened()).recorded(),
    exists: async () => (await opened()).exists(),
    isLocked: async () => (await opened()).isLocked(),
    [Symbol.asyncDispose]: async () => (await access)?.[Symbol.asyncDispose](),
  };
}

/** The claims that the targets of a database share; nothing is opened or created yet. */
export function databaseClaims(address: Secret, options: StateAccessOptions): RecordedClaims {
  let claims: Promise<RecordedClaims> | null = null;
  const opened = (): Promise<RecordedClaims> => {
    claims ??= import("./postgres/recorded-claims.ts").then(({ postgresClaims }) => postgresClaims(address, options));
    return claims;
  };
  return {
    claim: async (...asked) => (await opened()).claim(...asked),
    introduce: async (...asked) => (await opened()).introduce(...asked),
    owners: async (...asked) => (await opened()).owners(...asked),
    targets: async (server) => (await opened()).targets(server),
    [Symbol.asyncDispose]: async () => (await claims)?.[Symbol.asyncDispose](),
  };
}

/** Refuses a state in a database without a usable key, before it is opened. */
export async function requireDatabaseKey(address: Secret, keyText: string | null): Promise<void> {
  const { requireKey } = await import("./postgres/postgres-state.ts");
  requireKey(publicAddress(address), keyText);
}

/** The newest migration of a state's ledgers, in a folder or in a database. */
export async function stateSchema(place: "folder" | "database"): Promise<string | null> {
  const migrations =
    place === "folder"
      ? (await import("./database/state-schema.ts")).stateMigrations()
      : (await import("./postgres/state-tables.ts")).postgresStateMigrations(null);
  return Object.keys(migrations).toSorted().at(-1) ?? null;
}

/** The key of the state that `--state` names, without creating one; null if it is missing or cannot be used. */
export function existingKey(place: string, keyText: string | null): Promise<SealKey | null> {
  return existingKeyIn(place, keyText);
}

/**
 * Whether the holder of a lease is writing at this moment, by the holder's name from its state; null if that state is
 * not on this machine.
 */
export function isHolderAlive(holder: string): boolean | null {
  return isFolderHeld(holder);
}

/** A state with all its targets: in a database with its caches and tokens in the folder, or in the folder alone. */
export type WholeState = { readonly folder: string; readonly database: Secret | null };

/** Copies a state into a new folder. */
export async function exportState(state: WholeState, to: string, options: StateTransfer): Promise<Transferred> {
  const { exportLedgers, folderLedgers } = await import("./sqlite/export-state.ts");
  const ledgers = await ledgersIn();
  if (ledgers.length > 0) return exportLedgers(ledgers, to, options);
  const place = state.database === null ? state.folder : publicAddress(state.database);
  throw new HoldfastError("invalid", `there is no ledger in ${place}`, { hint: "name the state with --state" });

  async function ledgersIn(): Promise<readonly LedgerSource[]> {
    const { folder, database: address } = state;
    if (address === null) return folderLedgers(folder, options);
    return (await import("./postgres/move-state.ts")).databaseLedgers({ address, folder }, options);
  }
}

/** Creates a state from an exported folder. */
export async function importState(from: string, state: WholeState, options: StateTransfer): Promise<Transferred> {
  const { emptyFolder, importLedgers } = await import("./sqlite/import-state.ts");
  return importLedgers(from, state.folder, { exportKey: options.exportKey, open });

  async function open(): Promise<LedgerDestination> {
    const { folder, database: address } = state;
    if (address === null) return emptyFolder(folder, options);
    return (await import("./postgres/move-state.ts")).emptyDatabase({ address, folder }, options);
  }
}
