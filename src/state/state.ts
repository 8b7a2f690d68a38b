// src/state: what outlives a process. See docs/architecture.md#state.

import type { Clock } from "../clock/clock.ts";
import type { Random } from "../clock/random.ts";
import type { Secret } from "../contract/secret.ts";
import type { Identity } from "../core/manifest.ts";
import type { SealKey } from "../seal/seal-key.ts";
import type { Ledger } from "./ledger.ts";
import type { TargetStore } from "./target-store.ts";

/** Called with what a run cannot store for the next run, and the reason: the path and the cause. */
export type OnForgotten = (what: string, why: string) => void;

/** An open state: one ledger for each server, and one lock for all of them. */
export type State = {
  /** Seals the ledgers and the caches. */
  readonly key: SealKey;
  /** False if nothing can be stored. Only a run that writes nothing to a control plane may continue then. */
  readonly isWritable: boolean;
  /**
   * The holder name for leases. In a folder it stays the same, so that a run after a crash does not wait for its own lease
   * to expire. In a database each holder of the lock has its own. Only the holder of the lock may use it.
   */
  readonly holder: () => Promise<string>;
  /** The name of the holder that lost the lock without giving it back, and may still have a lease; null if there is none. */
  readonly formerHolder: () => Promise<string | null>;
  /** Locks the state against other writers until it is disposed; fails if another process holds the lock. */
  readonly lock: () => Promise<StateLock>;
  /** Opens the ledger of one server, by the server's name. If nothing can be stored, it is empty or read-only. */
  readonly ledger: (server: string) => Promise<Ledger>;
  /** What is cached, by the name of its file and what it is about: nothing is read that was written about anything else. */
  readonly cache: (name: string, about: string) => StateCache;
};

/** What can be computed again, sealed with the key of the state. */
export type StateCache = {
  /** The content, unless this cache has read or written it last; null too where there is none that can be read. */
  readonly readNew: () => Promise<string | null>;
  /** Replaces the content, given in chunks; returns where and why it could not, null if it could. */
  readonly write: (content: Generator<string>) => Promise<string | null>;
};

/** The right to write with a state. */
export type StateLock = AsyncDisposable & {
  /** The previous holder if it ended without releasing the lock; null if it released the lock. */
  readonly leftBy: string | null;
  /** Grows by one with each holder; null where the state cannot tell, since one process holds the lock for all its passes. */
  readonly number: number | null;
};

/** A state in a PostgreSQL database. */
export type DatabasePlace = {
  readonly address: Secret;
  /** The name of the target; null without a configuration that names targets. */
  readonly target: string | null;
  /** The folder of the caches, which are beside the state. */
  readonly folder: string;
};

/** How a state is opened. */
export type StateOptions = {
  /** The key that seals; null if the state stores its own. */
  readonly keyText: string | null;
  /** Whether nothing will be written to a control plane. The state may be unwritable then. @default false */
  readonly reading?: boolean;
};

/** Access to a state, which is opened once in a process; what needs no key can be used before. */
export type StateAccess = AsyncDisposable & {
  /** Opens the state; it is created when absent. */
  readonly open: (options: StateOptions) => Promise<State>;
  /** What is remembered of the target; it needs no key. */
  readonly target: () => Promise<TargetStore>;
  /** The resources that it has records of, on any server; it needs no key. */
  readonly recorded: () => Promise<readonly Identity[]>;
  /** Whether it was ever created; looking creates none. */
  readonly exists: () => Promise<boolean>;
  /** Whether a process is writing with it. */
  readonly isLocked: () => Promise<boolean>;
};

/** The clock and randomness of a state, and what it tells while it is used. */
export type StateAccessOptions = {
  readonly clock: Clock;
  readonly random: Random;
  readonly onForgotten?: OnForgotten;
  /**
   * The key that seals, as it is given; null if the state stores its own. A state that was sealed with another one is
   * not opened, also by what needs no key.
   */
  readonly readKey?: () => string | null;
  /** Ends the wait for a database that does not answer while the state is opened. */
  readonly stopping?: AbortSignal;
  /** Called when the state was upgraded, with the location of its backup. */
  readonly notify?: (notice: string) => void;
};

/** A resource that another target has claimed. */
export type RecordedClaim = {
  readonly identity: Identity;
  readonly target: string;
  /** Grows each time that the target records what it declares. */
  readonly number: number;
};

/** Which target of a database declares each resource of a control plane: one at most. */
export type RecordedClaims = AsyncDisposable & {
  /**
   * Records all that a target declares, and takes what other targets have claimed, unless `stands` holds to one of these claims:
   * then nothing is recorded, that claim is returned, and its target records what it declares at its next claim, under a new number.
   */
  readonly claim: (
    declared: ReadonlySet<Identity>,
    claimant: { readonly server: string; readonly target: string },
    stands: (claim: RecordedClaim) => boolean,
  ) => Promise<RecordedClaim | null>;
  /** Records what a target declares that has recorded nothing, as far as no other one has claimed it. */
  readonly introduce: (
    declared: ReadonlySet<Identity>,
    claimant: { readonly server: string; readonly target: string },
  ) => Promise<void>;
  /** The targets that have claimed resources of a control plane; absent for resources that none has. */
  readonly owners: (identities: Iterable<Identity>, server: string) => Promise<ReadonlyMap<Identity, string>>;
  /** The targets that have recorded what they declare on a control plane. */
  readonly targets: (server: string) => Promise<ReadonlySet<string>>;
};

/** The state of a target, and how it is used. */
export type TargetState = StateAccess & {
  readonly folder: string;
  /** The key that seals; null if the folder stores one. */
  readonly readKey: () => string | null;
  /** Identifies this build of the program, since another build may parse the same bytes differently. */
  readonly build: () => string;
  readonly onForgotten: OnForgotten;
  /** Whether caches in the folder may be used. */
  readonly caches: boolean;
};

/** The keys, clock and randomness for an export or import. */
export type StateTransfer = {
  readonly clock: Clock;
  readonly random: Random;
  /** The key of the state; null if the state stores its own. */
  readonly keyText: string | null;
  /** The key that seals the export. */
  readonly exportKey: SealKey;
  /** Ends the wait for a database that does not answer, where nothing is written into it. */
  readonly stopping?: AbortSignal;
};

/** The number of ledgers and tokens that an export or import has copied. */
export type Transferred = { readonly ledgers: number; readonly tokens: number };
