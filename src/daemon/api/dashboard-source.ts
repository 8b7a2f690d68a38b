// src/daemon/api: the JSON interface of a daemon, which its dashboard uses. See docs/dashboard.md.

import type { CommitSummary, StageStatus, WhyReply } from "../../contract/generated/output.ts";
import type { Secret } from "../../contract/secret.ts";
import type { Identity } from "../../core/manifest.ts";
import type { TargetStatus } from "../../core/report/target-status.ts";
import type { SealKey } from "../../seal/seal-key.ts";
import type { TargetStore } from "../../state/target-store.ts";
import type { CarriedOut } from "../carry-out.ts";
import type { TargetCommand } from "../control-socket.ts";

/** What the interface reads: that of a daemon, or of a state without one. */
export type DashboardSource = {
  /** The targets, in the order of the configuration. */
  readonly targets: () => readonly DashboardTarget[];
  /** How far the stages of the targets have come, given the statuses of all of them. */
  readonly stages: (statuses: readonly TargetStatus[]) => Promise<readonly StageStatus[]>;
  /** Whether other processes run passes of the targets too, of which this one is not told. */
  readonly isShared: () => boolean;
  /** Whether who has the token may act, under the name that they give, or who signs in and is named, or nobody. */
  readonly access: () => "loopback" | "token" | "oidc";
  /** Where people sign in; null while they do not. @default they never do */
  readonly signIn?: () => SignInSettings | null;
  /** Names of this host beside those of loopback, as requests may address it. */
  readonly hosts: () => readonly string[];
  /** Where plans of pull requests are kept; null where they are not. */
  readonly plans?: () => DashboardPlans | null;
};

/** Where people sign in to the dashboard, and who of them may do what. */
export type SignInSettings = {
  readonly issuer: string;
  readonly clientId: string;
  /** Read again for each sign-in; null while its file has none. */
  readonly clientSecret: () => Secret | null;
  /** Address of the dashboard as browsers use it. */
  readonly url: string;
  readonly ca: string | null;
  readonly groupsClaim: string;
  /** Globs over verified e-mail addresses, and groups as `group:NAME`. */
  readonly readers: readonly string[];
  readonly actors: readonly string[];
  /** The environment variables that name proxies. */
  readonly env: { readonly [name: string]: string | undefined };
};

/** The plans of pull requests that pipelines have sent. */
export type DashboardPlans = {
  /** The token that permits to send plans, and nothing else; null if there is none. */
  readonly token: () => Secret | null;
  /** Whether there is a state that may have them, which looking does not make; null while that does not answer. */
  readonly exists: () => Promise<boolean | null>;
  /** Reads from and writes to that state, and makes it where it does not exist; null while it does not answer. */
  readonly stored: <Result>(use: (store: TargetStore) => Promise<Result>) => Promise<Result | null>;
  /** The keys of the states of the targets, by which signed plans are known. */
  readonly keys: () => Promise<readonly SealKey[]>;
};

/** A target as the interface reads it. */
export type DashboardTarget = {
  readonly name: string;
  /** Whether the configuration names it, so that commands can. */
  readonly isNamed: boolean;
  /** Its status, as `holdfast status` says it. */
  readonly status: () => Promise<TargetStatus>;
  readonly hasLease: () => boolean;
  /** Reads from what is stored of it; null while that does not answer. */
  readonly read: <Result>(read: (store: TargetStore) => Promise<Result>) => Promise<Result | null>;
  /** Carries out what a person asks for; absent where no daemon of this process watches it. */
  readonly carryOut?: (command: TargetCommand) => Promise<CarriedOut>;
  /** The resources that it has records of; null while the state does not answer. */
  readonly recorded: () => Promise<readonly Identity[] | null>;
  /** What refers to what in the manifests that the last pass of this process has read; null where it does not remember them. */
  readonly lastReferences: () => TargetReferences | null;
  /** The same of the manifests as they are now. What is read is used again for a while, as long as the version is the same. */
  readonly readReferences: (version: number) => Promise<TargetReferences>;
  /** Says where a value comes from: reads that one resource on the control plane. */
  readonly explain: (asked: AskedValue) => Promise<ExplainedValue>;
  /** Author and subject of commits of its source, given by their full ids, as far as git knows them here. */
  readonly commits: (ids: readonly string[]) => Promise<readonly CommitSummary[]>;
};

/** What refers to what in the manifests of a target. */
export type TargetReferences = {
  /** The commit that has the manifests; null where none has them. */
  readonly commit: string | null;
  /** What a resource refers to, each once; null where no manifest declares it. */
  readonly of: (identity: Identity) => readonly Identity[] | null;
  /** What refers to a resource, each once. */
  readonly to: (identity: Identity) => readonly Identity[];
};

/** A resource, and the JSON Pointer of a field; empty for all of it. */
export type AskedValue = { readonly identity: Identity; readonly pointer: string };

/** Where a value comes from. */
export type ExplainedValue = Omit<WhyReply, "target">;

/** What is shown before a configuration is open. */
export const nothingShown: DashboardSource = {
  targets: () => [],
  stages: async () => [],
  isShared: () => false,
  access: () => "loopback",
  hosts: () => [],
};
