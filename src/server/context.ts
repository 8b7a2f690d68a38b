import type { Kysely } from "kysely";
import type { Clock } from "../clock/clock.ts";
import type { Log } from "../log/log.ts";
import type { KeyRing } from "../seal/seal-key.ts";
import type { Store } from "../store/store.ts";
import type { AuditChain } from "./audit/chain.ts";
import type { CallMarks } from "./audit/entry.ts";
import type { Refusals } from "./audit/refusals.ts";
import type { TokenIssuer } from "./auth/oidc/claims.ts";
import type { Principal } from "./auth/principal.ts";
import type { SigningKeys } from "./auth/signing-keys.ts";
import type { Tables } from "./database/tables.ts";
import type { RunDriver } from "./resources/job-run/run-driver.ts";
import type { TokenUses } from "./resources/personal-access-token/token-uses.ts";
import type { ArtifactRoot } from "./resources/staged-artifact/artifact-storage.ts";
import type { RolloutDriver } from "./rollouts/rollout-driver.ts";

/** What an operation can use besides its call. */
export type Context = {
  readonly store: Store<Tables>;
  /** The clock, in epoch milliseconds. */
  readonly clock: Clock;
  /** A new id; ids grow in the order of their creation. */
  readonly newId: () => string;
  /** The current keys that seal secrets at rest. */
  readonly keys: () => KeyRing;
  /** The keys that sign the tokens of virtual accounts. */
  readonly signingKeys: SigningKeys;
  /** The issuer of OpenID Connect whose tokens are accepted; null for none. */
  readonly issuer: TokenIssuer | null;
  /** When personal access tokens were last used. */
  readonly tokenUses: TokenUses;
  /** Whether manifests may carry fields that the schemas do not know. */
  readonly unknownFields: "refuse" | "allow";
  /** The longest time for which a lease is granted. */
  readonly maxLeaseSeconds: number;
  readonly rollouts: RolloutDriver;
  readonly runs: RunDriver;
  /** Schedules when rollouts and runs are advanced next, in epoch milliseconds. */
  readonly scheduleAdvance: (time: number) => void;
  /** Where the files of staged versions are stored. */
  readonly artifacts: ArtifactRoot;
  /** The files of staged versions that go through this server: their folder, and how much those of one stage may have. */
  readonly stagedFiles: { readonly folder: string; readonly maxBytes: number };
  /** The data folder. */
  readonly folder: string;
  readonly log: Log;
  /** What manifests can refer to, by kind. */
  readonly targets: ReadonlyMap<string, ReferenceTarget>;
  /** What this process adds to the audit log. */
  readonly audit: { readonly chain: AuditChain; readonly refusals: Refusals };
  /** The current request as the audit log tells it; absent for what the server does by itself. */
  readonly call?: CallMarks;
};

/** A kind of resource that manifests can refer to. */
export type ReferenceTarget = {
  readonly kind: string;
  /** Which of these keys exist; called with at most 500. */
  readonly existing: (database: Kysely<Tables>, keys: readonly string[]) => Promise<readonly string[]>;
  /** Whether the principal may refer to it; absent when everyone may. */
  readonly isVisible?: (principal: Principal, key: string) => boolean;
  /** The permission that is missing, for the error message. @default "see" */
  readonly verb?: string;
};

/** The current time in the format of the interface. */
export function timestamp({ clock }: Context): string {
  return new Date(clock.now()).toISOString();
}
