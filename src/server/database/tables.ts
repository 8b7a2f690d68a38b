import type {
  Application,
  Artifact,
  Cluster,
  Deployment,
  JobRun,
  MlRepo,
  ModelVersion,
  PromptVersion,
  SecretGroup,
  SecretResource,
  Subject,
  Team,
  VirtualAccount,
  Workspace,
} from "../../contract/resources.ts";
import type { JsonText } from "./json-text.ts";

/** Columns that every resource has: `json` is the resource as it is sent, the others find and order it. */
type Resource<Value> = { readonly id: string; readonly created_at: string; readonly json: JsonText<Value> };

/** An application as it is kept: a list adds its newest deployment. */
export type KeptApplication = Omit<Application, "deployment">;

/** A deployment as it is kept: a reply adds its application. */
export type KeptDeployment = Omit<Deployment, "application">;

/** A secret group as it is kept: a reply adds its secrets. */
export type KeptSecretGroup = Omit<SecretGroup, "associatedSecrets">;

/** A secret as it is kept: a reply adds what changes without it. */
export type KeptSecret = Omit<SecretResource, "activeDeploymentsCount" | "value">;

/** An artifact as it is kept: a reply adds what its versions say. */
export type KeptArtifact = Omit<Artifact, "latest_version" | "run_steps">;

/** A virtual account as it is kept: whether it is expired depends on the moment. */
export type KeptAccount = Omit<VirtualAccount, "isExpired">;

/** The tables of the control plane's database. */
export type Tables = {
  readonly users: { readonly id: string; readonly slug: string; readonly display_name: string };
  /** Opaque tokens of users; of the token itself only its SHA-256 is kept. */
  readonly tokens: {
    readonly hash: string;
    readonly user_id: string;
    readonly name: string;
    readonly created_at: string;
  };
  /** One row for each role that a manifest gives; `source` is the resource whose manifest it is. */
  readonly grants: {
    readonly source: string;
    readonly subject: string;
    readonly resource_type: string;
    readonly resource_fqn: string;
    readonly role_id: string;
  };
  readonly clusters: Resource<Cluster>;
  readonly workspaces: Resource<Workspace> & {
    readonly fqn: string;
    readonly name: string;
    readonly cluster_id: string;
  };
  readonly applications: Resource<KeptApplication> & {
    readonly fqn: string;
    readonly name: string;
    readonly type: string;
    readonly workspace_id: string;
    readonly last_deployment_id: string;
    readonly active_deployment_id: string | null;
  };
  readonly deployments: Resource<KeptDeployment> & {
    readonly application_id: string;
    readonly version: number;
    /** 1 once the rollout is over, 0 before. */
    readonly is_over: number;
    /** When the rollout is to be looked at again, in epoch milliseconds; null when nothing is expected. */
    readonly look_at: number | null;
  };
  readonly job_runs: Resource<JobRun> & {
    readonly job_id: string;
    readonly deployment_id: string;
    readonly name: string;
    /** When the run is to be looked at again, in epoch milliseconds; null when nothing is expected. */
    readonly look_at: number | null;
  };
  /** Who wanted a run to start once a deployment has come about; the row goes when it is over. */
  readonly job_triggers: {
    readonly deployment_id: string;
    readonly principal: string;
    readonly subject: JsonText<Subject>;
  };
  readonly teams: Resource<Team> & { readonly name: string };
  /** `member` is an e-mail; `position` is `member` or `manager`. */
  readonly team_members: { readonly team: string; readonly member: string; readonly position: string };
  readonly virtual_accounts: Resource<KeptAccount> & {
    readonly name: string;
    /** The last day on which it is valid (`yyyy-mm-dd`), null without end. */
    readonly expires_on: string | null;
    /** When its token is to be replaced, in epoch milliseconds; null when we replace none. */
    readonly rotate_at: number | null;
  };
  /**
   * Tokens of virtual accounts: one whose id is not here is void, and so is a replaced one once `valid_until` (epoch
   * milliseconds) has come.
   */
  readonly jwts: {
    readonly id: string;
    readonly account_id: string;
    readonly created_at: string;
    readonly valid_until: number | null;
    /** The signing key that vouches for it. */
    readonly kid: string | null;
  };
  /** Ed25519 key pairs that sign tokens, the private half sealed (base64). */
  readonly signing_keys: { readonly kid: string; readonly sealed: string; readonly created_at: string };
  readonly ml_repos: Resource<MlRepo> & { readonly name: string };
  /** Models and prompts by `type` (`model-version`, `chat_prompt`, `artifact-version`), which have versions. */
  readonly artifacts: Resource<KeptArtifact> & {
    readonly type: string;
    readonly ml_repo_id: string;
    readonly name: string;
    /** Number of the newest version, 0 when none is registered. */
    readonly newest: number;
  };
  readonly artifact_versions: Resource<ModelVersion | PromptVersion> & {
    readonly artifact_id: string;
    readonly type: string;
    readonly ml_repo_id: string;
    readonly name: string;
    readonly version: number;
    readonly fqn: string;
    readonly alias: string | null;
    readonly run_id: string | null;
    readonly step: number | null;
  };
  /** Staged versions: `state` is `open`, `registered` or `failed`. */
  readonly stages: {
    readonly id: string;
    readonly artifact_id: string;
    readonly ml_repo_id: string;
    readonly storage_root: string;
    readonly state: string;
    readonly created_at: string;
  };
  readonly secret_groups: Resource<KeptSecretGroup> & { readonly name: string; readonly fqn: string };
  readonly secrets: Resource<KeptSecret> & {
    readonly group_id: string;
    readonly name: string;
    readonly fqn: string;
    /** The virtual account that keeps its token here; null for every other secret. */
    readonly account: string | null;
  };
  /** One row for each secret that a deployment refers to. */
  readonly secret_uses: { readonly deployment_id: string; readonly secret_fqn: string };
  /** Values, sealed (base64) with `secret:<secret id>:<version>` as associated data. */
  readonly secret_versions: {
    readonly id: string;
    readonly secret_id: string;
    readonly version: number;
    readonly sealed: string;
    readonly created_at: string;
  };
  /** One row for each effect. */
  readonly audit: {
    readonly id: string;
    readonly at: string;
    readonly principal: string;
    readonly operation: string;
    readonly resource: string;
    /** SHA-256 of the Idempotency-Key that the request carried, where it did. */
    readonly key_hash: string | null;
    readonly fencing_number: number | null;
  };
  /** Replies that are given again to a request with the same Idempotency-Key, of which only the SHA-256 is kept. */
  readonly kept_replies: {
    readonly key_hash: string;
    readonly principal: string;
    /** Method and path. */
    readonly request: string;
    /** Sealed (base64) under a key that follows from the server's and the client's. */
    readonly sealed: string;
    readonly kept_until: number;
  };
  /** `issued` is the last fencing number that was issued, `changes` counts the changes of leases. */
  readonly lease_numbers: { readonly name: string; readonly number: number };
  /** Who may write in a scope, and until when (epoch milliseconds); the holder is empty once it was given back. */
  readonly leases: {
    readonly scope: string;
    readonly holder: string;
    readonly principal: string;
    readonly number: number;
    readonly expires_at: number;
  };
  /** Tokens that callers made for themselves by operation 7; of the token itself only its SHA-256 is kept. */
  readonly personal_tokens: Resource<KeptAccount> & {
    readonly hash: string;
    readonly owner_type: string;
    readonly owner_id: string;
    readonly name: string;
    /** What it ends with: the hash of its owner's token in `tokens`, or the id of its owner's JWT in `jwts`. */
    readonly credential: string | null;
    /** The name of the credential that made it; null where that was not recorded. */
    readonly made_with: string | null;
    /** When it was last used (epoch milliseconds, to within minutes). */
    readonly last_used_at: number | null;
  };
  /** Every key that something here is sealed with, by a text that it sealed (base64). */
  readonly server_keys: { readonly version: string; readonly sealed: string; readonly created_at: string };
};
