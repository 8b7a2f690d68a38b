import type { FlagName } from "./options.ts";
import type { Terminal } from "./terminal.ts";

/** One run of a command: what the user typed, the environment filled in. */
export type Invocation = {
  readonly args: readonly string[];
  readonly flags: Flags;
  readonly terminal: Terminal;
};

/** Values of the flags, as commander and the environment give them; undefined where nobody said anything. */
export type Flags = {
  readonly source?: string;
  readonly config?: string;
  readonly only?: readonly string[];
  readonly kind?: readonly string[];
  readonly exclude?: readonly string[];
  readonly strict?: boolean;
  readonly partial?: boolean;
  readonly server?: string;
  readonly embedded?: boolean;
  readonly tokenFile?: string;
  readonly caFile?: string;
  readonly state?: string;
  readonly concurrency?: number;
  readonly timeout?: number;
  readonly requestTimeout?: number;
  readonly connectTimeout?: number;
  readonly retryWait?: number;
  readonly output?: "text" | "json";
  readonly show?: readonly ("unchanged" | "unmanaged" | "server")[];
  readonly base?: string;
  readonly out?: string;
  readonly plan?: string;
  readonly detailedExitcode?: boolean;
  readonly yes?: boolean;
  readonly wait?: boolean;
  readonly failFast?: boolean;
  readonly allowShrink?: boolean;
  readonly sink?: string;
  readonly leaseScope?: string;
  readonly interval?: number;
  readonly color?: boolean;
  readonly logLevel?: "error" | "warn" | "info" | "debug" | "trace";
  readonly logFormat?: "json" | "pretty";
  readonly host?: string;
  readonly port?: number;
  readonly data?: string;
  readonly seed?: string;
  readonly artifactRoot?: string;
  readonly snapshot?: string;
  readonly names?: string;
  readonly database?: string;
  readonly documentedOnly?: boolean;
  readonly unknownFields?: "refuse" | "allow";
  readonly rolloutSeconds?: number;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly rateLimit?: number;
  readonly maxLeaseSeconds?: number;
  readonly drainSeconds?: number;
  readonly renewSigningKey?: boolean;
  readonly revoke?: readonly string[];
};

/** A command of the program; its code is loaded when it runs. */
export type CommandEntry = {
  readonly name: string;
  readonly arguments: string;
  /** What the arguments are; else they select within the source. */
  readonly argumentsAre?: string;
  readonly summary: string;
  readonly flags: readonly FlagName[];
  readonly examples: readonly string[];
  /** Answers the exit code. */
  readonly load: () => Promise<{ readonly run: (invocation: Invocation) => Promise<number> }>;
};
