import type { Secret } from "../contract/secret.ts";
import type { TlsFiles } from "../http/tls.ts";
import type { Log } from "../log/log.ts";
import type { RunDriver } from "./resources/job-run/driver.ts";
import type { RolloutDriver } from "./rollouts/driver.ts";
import type { SeedDocument } from "./seed/seed-document.ts";
import type { Snapshot } from "./snapshot/snapshot-rows.ts";

/** What a control plane is started with. */
export type ControlPlaneOptions = {
  /** Folder of its data; made (0700) when absent. */
  readonly data: string;
  /** Address of a PostgreSQL, which several servers may share, instead of SQLite in the folder. */
  readonly database?: Secret;
  /** @default "127.0.0.1" */
  readonly host?: string;
  /** 0 picks a free one. @default 0 */
  readonly port?: number;
  /** Serve the documented operations alone. @default false */
  readonly documentedOnly?: boolean;
  /** @default "refuse" */
  readonly unknownFields?: "refuse" | "allow";
  /** How long a simulated rollout takes, or a run of a job. @default 2 */
  readonly rolloutSeconds?: number;
  /** Carries rollouts out in the place of the embedded driver. */
  readonly rollouts?: RolloutDriver;
  /** Carries the runs of jobs out in the place of the embedded driver. */
  readonly runs?: RunDriver;
  /** Where the files of staged versions go, a `file://` or `s3://` URI; else a folder beside the data. */
  readonly artifactRoot?: string;
  /** What was seen of another control plane: what is absent here is copied before the first request is served. */
  readonly snapshot?: Snapshot;
  /** Manifests to create before the first request is served. */
  readonly seed?: readonly SeedDocument[];
  /** The key that seals secrets, or several, the newest first. */
  readonly serverKey?: Secret;
  /** A file with such keys, which is looked at again while we run; else `server-key` in the data folder. */
  readonly serverKeyFile?: string;
  /** How often the files of keys and certificates are looked at. @default 5 */
  readonly fileCheckSeconds?: number;
  /** Makes a new key for the tokens of virtual accounts at once, and not when the last one is old. */
  readonly renewSigningKey?: boolean;
  /** Certificate and key to speak TLS with, PEM files; they may be replaced while it runs. */
  readonly tls?: TlsFiles;
  /** Requests a second that one caller may make; 0 for as many as it likes. @default 0 */
  readonly rateLimit?: number;
  /** The longest time that a lease may be taken for. @default 900 */
  readonly maxLeaseSeconds?: number;
  /** Bytes that the bodies of all requests under way may have together. @default 64 MiB */
  readonly bodyBytes?: number;
  /** Bytes that large replies may have together which clients have not taken yet. @default 128 MiB */
  readonly replyBytes?: number;
  /** How long it goes on answering when asked to close, so that others notice that it is not ready. @default 0 */
  readonly drainSeconds?: number;
  /** Whose tokens (`virtualaccount:ci`, `user:admin`) are void from now on. */
  readonly revoke?: readonly string[];
  /** The administrator's token; else the one in `admin-token` of the data folder. */
  readonly adminToken?: Secret;
  readonly log: Log;
  /** Closes it. */
  readonly signal?: AbortSignal;
  /** Cuts off what closing waits for: the time to drain, and clients that are slow. */
  readonly ending?: AbortSignal;
};
