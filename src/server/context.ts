import type { Log } from "../log/log.ts";
import type { KeyRing } from "../seal/key.ts";
import type { Store } from "../store/store.ts";
import type { SigningKeys } from "./auth/signing-keys.ts";
import type { Tables } from "./database/tables.ts";
import type { ReferenceTarget } from "./manifest/reference-target.ts";
import type { RunDriver } from "./resources/job-run/driver.ts";
import type { TokenUses } from "./resources/personal-access-token/token-uses.ts";
import type { ArtifactRoot } from "./resources/staged-artifact/artifact-root.ts";
import type { RolloutDriver } from "./rollouts/driver.ts";

/** All that an operation may reach besides its call. */
export type Context = {
  readonly store: Store<Tables>;
  /** The clock, in epoch milliseconds. */
  readonly now: () => number;
  /** A new id; ids grow in the order in which they are made. */
  readonly newId: () => string;
  /** The keys that seal secrets at rest, as they are at the moment. */
  readonly keys: () => KeyRing;
  /** The keys that sign the tokens of virtual accounts. */
  readonly signingKeys: SigningKeys;
  /** When personal access tokens were last used. */
  readonly tokenUses: TokenUses;
  /** Whether manifests may carry fields that the schemas do not know. */
  readonly unknownFields: "refuse" | "allow";
  /** The longest time that a lease may be taken for. */
  readonly maxLeaseSeconds: number;
  readonly rollouts: RolloutDriver;
  readonly runs: RunDriver;
  /** Says that a rollout or a run is to be looked at at that time (epoch milliseconds). */
  readonly lookAt: (time: number) => void;
  /** Where the files of staged versions go. */
  readonly artifacts: ArtifactRoot;
  /** The data folder, for files that are not rows. */
  readonly folder: string;
  readonly log: Log;
  /** What manifests can refer to, by its kind. */
  readonly targets: ReadonlyMap<string, ReferenceTarget>;
  /** What the request under way carries besides, for the audit. */
  readonly marks?: { readonly keyHash: string | null; readonly fencingNumber: number | null };
};

/** A moment as the interface writes it. */
export function timestamp({ now }: Pick<Context, "now">): string {
  return new Date(now()).toISOString();
}
