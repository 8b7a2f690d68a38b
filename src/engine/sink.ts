import type { Secret } from "../contract/secret.ts";
import type { Identity } from "../core/manifest.ts";

/** Where one-time tokens go. */
export type Sink = {
  /** Fails when a token could not be kept; asked before the write that would answer one. */
  readonly check: (identity: Identity) => Promise<void>;
  /** Keeps a token durably, reads it back, and answers where it is; a token that is kept already stays where it is. */
  readonly deliver: (identity: Identity, token: Secret) => Promise<string>;
};

/** A sink that can be chosen: a file of `sinks/`. */
export type SinkType = {
  /** What `--sink` and the configuration call it. */
  readonly name: string;
  /** Whether it is used by whoever may use one and has chosen none. */
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
