import type { Secret } from "../contract/secret.ts";
import type { Identity } from "../core/manifest.ts";

/** Where one-time tokens go. */
export type Sink = {
  /** Fails when a token could not be kept; asked before the write that would answer one. */
  readonly check: (identity: Identity) => Promise<void>;
  /** Stores a token durably, reads it back, and answers its place; a token that is stored already stays there. */
  readonly deliver: (identity: Identity, token: Secret) => Promise<string>;
};

/** A sink that can be chosen: a file of `sinks/`. */
export type SinkType = {
  /** What `--sink` and the configuration call it. */
  readonly name: string;
  /** Whether it is the default. */
  readonly isDefault?: boolean;
  readonly open: (place: SinkPlace) => Sink;
};

/** Whose tokens a sink is opened for. */
export type SinkPlace = {
  /** The folder of this machine that may hold files of ours. */
  readonly folder: string;
  /** The control plane that makes the accounts. */
  readonly server: string;
};
