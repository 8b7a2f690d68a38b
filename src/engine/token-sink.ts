import type { Clock } from "../clock/clock.ts";
import type { Secret } from "../contract/secret.ts";
import type { Identity } from "../core/manifest.ts";

/** Stores one-time tokens. */
export type Sink = {
  /** Fails when a token could not be stored; called before a write whose reply carries one. */
  readonly check: (identity: Identity) => Promise<void>;
  /** Stores a token durably, reads it back, and returns its location; a token that is already stored stays there. */
  readonly deliver: (identity: Identity, token: Secret) => Promise<string>;
};

/** A sink that users can choose; defined by a file in `sinks/`. */
export type SinkType = {
  /** The name for `--sink` and the configuration. */
  readonly name: string;
  /** Whether it is the default. */
  readonly isDefault?: boolean;
  readonly open: (place: SinkPlace) => Sink;
};

/** The machine and server that a sink is opened for. */
export type SinkPlace = {
  /** The folder on this machine for the sink's files. */
  readonly folder: string;
  /** The control plane that creates the accounts. */
  readonly server: string;
  readonly clock: Clock;
};
