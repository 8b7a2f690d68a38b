import type { SealKey } from "../seal/seal-key.ts";
import type { Ledger } from "./ledger.ts";

/** Told what a run cannot remember for the next one, and why: the path and the cause. */
export type OnForgotten = (what: string, why: string) => void;

/** What is kept between runs: one ledger for each server, and one lock for all of them. */
export type State = {
  /** Seals what is kept, here and in caches beside it. */
  readonly key: SealKey;
  /** False where nothing can be kept; only a run that writes nothing to a control plane goes on then. */
  readonly isWritable: boolean;
  /**
   * The name that leases are taken under. On one machine it stays the same, so that a run after a crash need not wait
   * for its own lease to expire. Only the holder of the lock may use it.
   */
  readonly holder: () => Promise<string>;
  /** Keeps other writers out until it is disposed of; fails when another process has it. */
  readonly lock: () => Promise<StateLock>;
  /** Opens the ledger of one server, by the server's name; where nothing can be kept, it is empty or read-only. */
  readonly ledger: (server: string, options?: LedgerOptions) => Promise<Ledger>;
};

/** The right to write with a state. */
export type StateLock = AsyncDisposable & {
  /** The writer before, where it ended without giving the lock back; null where it did. */
  readonly leftBy: string | null;
};

/** How a ledger is opened. */
export type LedgerOptions = {
  /** Told that the ledger was upgraded, and where its backup is. */
  readonly notify?: (notice: string) => void;
};

/** How a state is opened. */
export type StateOptions = {
  /** The key that seals; null where the state keeps its own. */
  readonly keyText: string | null;
  /** Whether nothing will be written to a control plane: then a state that cannot be written will do. @default false */
  readonly reading?: boolean;
  readonly onForgotten?: OnForgotten;
};

/** Where the ledger is, before it is opened. */
export type StateLocation = {
  readonly folder: string;
  /** The key that seals; null where the folder keeps one. */
  readonly readKey: () => string | null;
  /** Names this build of the program, since others may read the same bytes otherwise. */
  readonly build: () => string;
  readonly onForgotten: OnForgotten;
  /** Whether what is unchanged since an earlier pass may be known from caches beside the ledger. */
  readonly caches: boolean;
};

/** How a state that is moved is sealed. */
export type TransferOptions = {
  /** The key of the state; null where the state keeps its own. */
  readonly keyText: string | null;
  /** The key that seals the export. */
  readonly exportKey: SealKey;
};

/** What an export or an import has moved. */
export type Transferred = { readonly ledgers: number; readonly tokens: number };
