import type { Clock } from "../clock/clock.ts";
import type { Random } from "../clock/random.ts";
import type { JsonObject } from "../contract/json.ts";
import type { Secret } from "../contract/secret.ts";
import type { Build } from "../http/metrics.ts";
import type { TlsFiles } from "../http/tls.ts";
import type { Log } from "../log/log.ts";
import type { Store } from "../store/store.ts";
import type { OidcOptions } from "./auth/oidc/claims.ts";
import type { Tables } from "./database/tables.ts";
import type { Retention } from "./jobs/retention.ts";
import type { RunDriver } from "./resources/job-run/run-driver.ts";
import type { RolloutProgram } from "./rollouts/program-rollouts.ts";
import type { FailureRule, RolloutDriver } from "./rollouts/rollout-driver.ts";
import type { Snapshot } from "./snapshot/snapshot-part.ts";

/** A manifest of a seed, and its place in the source. */
export type SeedDocument = { readonly place: string; readonly manifest: JsonObject };

/** How the data of a control plane are opened. */
export type DataOptions = {
  readonly clock: Clock;
  readonly random: Random;
  /** Data folder; created (0700) when absent. */
  readonly data: string;
  /** Address of a PostgreSQL database, which several servers may share, instead of SQLite in the folder. */
  readonly database?: Secret;
  /** An open store, which is used instead of opening one. */
  readonly store?: Store<Tables>;
  /** One or more keys that seal secrets, the newest first. */
  readonly serverKey?: Secret;
  /** A file with such keys, which is checked for changes; by default `server-key` in the data folder. */
  readonly serverKeyFile?: string;
  readonly log: Log;
};

/** The options of a control plane. */
export type ControlPlaneOptions = DataOptions & {
  /** @default "127.0.0.1" */
  readonly host?: string;
  /** 0 selects a free port. @default 0 */
  readonly port?: number;
  /** Serve the documented operations alone. @default false */
  readonly documentedOnly?: boolean;
  /** @default "refuse" */
  readonly unknownFields?: "refuse" | "allow";
  /** How long a simulated rollout takes, or a run of a job. @default 2 */
  readonly rolloutSeconds?: number;
  /** Which simulated rollouts fail. @default none */
  readonly rolloutFailures?: readonly FailureRule[];
  /** A program that carries out rollouts instead of the simulation. */
  readonly rolloutProgram?: RolloutProgram;
  /** Carries out rollouts instead of the simulation. */
  readonly rollouts?: RolloutDriver;
  /** Runs jobs instead of the simulation. */
  readonly runs?: RunDriver;
  /**
   * Where the files of staged versions are stored, a `file://` or `s3://` URI; or the address at which clients reach this
   * server, through which they go then. By default a folder in the data folder.
   */
  readonly artifactRoot?: string;
  /** The folder of the files that go through this server. @default `artifacts` in the data folder */
  readonly artifactFolder?: string;
  /** How long files can be stored for a stage, in hours. @default 24 */
  readonly stageHours?: number;
  /** The most bytes of the files of one stage. @default 100 GB */
  readonly stageBytes?: number;
  /** Rows of another control plane; those that are absent here are copied before the first request is served. */
  readonly snapshot?: Snapshot;
  /** Manifests to create before the first request is served. */
  readonly seed?: readonly SeedDocument[];
  /** Whose tokens are accepted besides its own; none by default. */
  readonly oidc?: OidcOptions;
  /** How often the files of keys and certificates are checked for changes. @default 5 */
  readonly fileCheckSeconds?: number;
  /** Creates a new key for the tokens of virtual accounts at the start. */
  readonly renewSigningKey?: boolean;
  /** Certificate and key for TLS, PEM files; they may be replaced while the server runs. */
  readonly tls?: TlsFiles;
  /** Maximum requests per second of one caller; 0 is no limit. @default 0 */
  readonly rateLimit?: number;
  /** The longest time for which a lease is granted. @default 900 */
  readonly maxLeaseSeconds?: number;
  /** How much of what has ended is kept. @default `keptByDefault` */
  readonly retention?: Partial<Retention>;
  /** Limit of the bodies of all requests in flight together. @default 64 MiB */
  readonly bodyBytes?: number;
  /** Limit of all large replies that clients have not read yet. @default 128 MiB */
  readonly replyBytes?: number;
  /** How long requests are still served while closing, so that load balancers notice. @default 0 */
  readonly drainSeconds?: number;
  /** Subjects (`virtualaccount:ci`, `user:admin`) whose tokens are revoked at the start. */
  readonly revoke?: readonly string[];
  /** The build of the program, which metrics show to callers who read the whole tenant. */
  readonly build?: Build;
  /** One or two tokens of the administrator, one a line, the newest first; by default `admin-token` in the data folder. */
  readonly adminToken?: Secret;
  /** Makes a new token of the administrator although the current one is elsewhere. @default false */
  readonly newAdminToken?: boolean;
  /** What the operator has set, for the log: without secrets. */
  readonly startedWith?: JsonObject;
  /** Closes it. */
  readonly signal?: AbortSignal;
  /** Ends the waiting while closing: the drain time, and slow clients. */
  readonly ending?: AbortSignal;
};

/** An invalid option of a control plane. */
export class OptionsError extends Error {
  override readonly name = "OptionsError";
}
