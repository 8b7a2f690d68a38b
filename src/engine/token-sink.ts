import type { Clock } from "../clock/clock.ts";
import type { Random } from "../clock/random.ts";
import type { HoldfastConfig } from "../contract/generated/config.ts";
import type { Secret } from "../contract/secret.ts";
import type { Identity } from "../core/manifest.ts";

/** Stores one-time tokens. */
export type Sink = {
  /** Fails when a token could not be stored; called before a write whose reply carries one. */
  readonly check: (identity: Identity) => Promise<void>;
  /** Stores a token durably, reads it back, and returns its location; a token that is already stored stays there. */
  readonly deliver: (identity: Identity, token: Secret) => Promise<string>;
};

/** The settings of a sink in the operator's configuration. */
export type SinkSettings = Partial<Exclude<NonNullable<HoldfastConfig["sinks"]>[number], string>>;

/** A sink that users can choose; defined by a file in `sinks/`. */
export type SinkType = {
  /** The name for `--sink` and the configuration. */
  readonly name: string;
  /** Whether it is the default. */
  readonly isDefault?: boolean;
  /** Opens it; settings that it cannot work with are a `HoldfastError`. */
  readonly open: (place: SinkPlace) => Sink;
};

/** A sink that was chosen, with its settings. */
export type ChosenSink = {
  readonly type: SinkType;
  readonly settings: SinkSettings;
};

/** The machine and server that a sink is opened for, and its settings. */
export type SinkPlace = {
  /** The folder on this machine for the sink's files. */
  readonly folder: string;
  /** The control plane that creates the accounts. */
  readonly server: string;
  readonly settings: SinkSettings;
  /** The folder that relative paths of the settings are in. */
  readonly cwd: string;
  readonly env: { readonly [name: string]: string | undefined };
  readonly clock: Clock;
  readonly random: Random;
};
