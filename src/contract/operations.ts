import type {
  Addon,
  Application,
  Artifact,
  AuditRow,
  Caller,
  Cluster,
  Deployment,
  JobRun,
  LeaseResource,
  MlRepo,
  ModelVersion,
  PersonalAccessToken,
  PromptVersion,
  RangeDigest,
  RolloutFailures,
  SecretGroup,
  SecretResource,
  StagedArtifact,
  Team,
  User,
  VirtualAccount,
  Workspace,
} from "./generated/resources.ts";

/**
 * What is allowed when the outcome of a call is unknown. It is a property of the operation, not of its HTTP method:
 * `read` may be repeated freely · `repeat` repeating the same write is harmless · `version` each call may create a
 * version: read back first, never repeat blindly · `once` cannot be read back: at most once · `token` the reply carries
 * a one-time token.
 */
export type RetryClass = "read" | "repeat" | "version" | "once" | "token";

/** The type of one query parameter. */
export type Parameter = "string" | "integer" | "boolean" | "strings" | "integers";

/** The type of one body member; `object` members are manifests, which are validated by their schemas. */
export type Member = { readonly is: "object" | "boolean" | "string" | "integer" | "list"; readonly required?: true };

/** One row of the interface: the facts about an operation that client, server and documentation share. */
export type Operation = {
  /** The number in the interface; `E1`… for the extensions, `S1` for the secret read of rule 2. */
  readonly number: string;
  readonly method: "GET" | "PUT" | "POST";
  readonly path: string;
  readonly summary: string;
  /** The allowed query parameters, besides `limit` and `offset`, which every list accepts. */
  readonly query?: { readonly [name: string]: Parameter };
  readonly body?: { readonly [name: string]: Member };
  /** `one` {data} · `list` {data: [], pagination} · `empty` {} · `bare` an object without envelope. */
  readonly reply: "one" | "list" | "empty" | "bare";
  readonly retry: RetryClass;
  /** The caller loses a right unless this is answered in time: it goes before other requests, and is limited apart. */
  readonly isKeepAlive?: true;
  /** What a reconciler cannot do, or does differently, on a control plane without this extension. */
  readonly without?: string;
};

const manifest = { is: "object", required: true } as const;
const dryRun = { is: "boolean" } as const;
const text = { is: "string" } as const;
const requiredText = { is: "string", required: true } as const;

/** The 20 operations of the interface, the secret read that it names, and the extensions. */
export const operations = {
  listWorkspaces: {
    number: "1",
    method: "GET",
    path: "/api/svc/v1/workspaces",
    summary: "List the workspaces associated with the caller",
    query: { clusterId: "string", fqn: "string", name: "string" },
    reply: "list",
    retry: "read",
  },
  listSecretDeployments: {
    number: "2",
    method: "GET",
    path: "/api/svc/v1/secrets/{id}/deployments",
    summary: "List the active deployments associated with a secret",
    reply: "list",
    retry: "read",
  },
  putPromptVersion: {
    number: "3",
    method: "PUT",
    path: "/api/ml/v1/prompt-versions",
    summary: "Create or update a prompt version",
    body: { manifest },
    reply: "one",
    retry: "version",
  },
  createSecretGroup: {
    number: "4",
    method: "POST",
    path: "/api/svc/v1/secret-groups",
    summary: "Create a secret group with its secrets",
    body: { name: requiredText, integrationId: requiredText, secrets: { is: "list", required: true } },
    reply: "one",
    retry: "once",
  },
  postModelVersion: {
    number: "5",
    method: "POST",
    path: "/api/ml/v1/model-versions",
    summary: "Register a model version",
    body: { manifest },
    reply: "empty",
    retry: "version",
  },
  getCluster: {
    number: "6",
    method: "GET",
    path: "/api/svc/v1/clusters/{id}",
    summary: "Read a cluster",
    reply: "one",
    retry: "read",
  },
  getPersonalAccessToken: {
    number: "7",
    method: "GET",
    path: "/api/svc/v1/personal-access-tokens/{name}",
    summary: "Return the personal access token of a name, creating it when it does not exist",
    reply: "one",
    retry: "token",
  },
  getArtifact: {
    number: "8",
    method: "GET",
    path: "/api/ml/v1/artifacts/{id}",
    summary: "Read an artifact",
    reply: "one",
    retry: "read",
  },
  getJobRun: {
    number: "9",
    method: "GET",
    path: "/api/svc/v1/jobs/{jobId}/runs/{jobRunName}",
    summary: "Read a job run",
    reply: "one",
    retry: "read",
  },
  listDeployments: {
    number: "10",
    method: "GET",
    path: "/api/svc/v1/apps/{id}/deployments",
    summary: "List the deployments of an application",
    query: { version: "string", deploymentId: "string" },
    reply: "list",
    retry: "read",
  },
  listAddons: {
    number: "11",
    method: "GET",
    path: "/api/svc/v1/clusters/{id}/get-addons",
    summary: "List the addons of a cluster",
    reply: "list",
    retry: "read",
  },
  listPromptVersions: {
    number: "12",
    method: "GET",
    path: "/api/ml/v1/prompt-versions",
    summary: "List prompt versions",
    query: {
      tag: "string",
      fqn: "string",
      prompt_id: "string",
      ml_repo_id: "string",
      name: "string",
      version: "integer",
    },
    reply: "list",
    retry: "read",
  },
  listModelVersions: {
    number: "13",
    method: "GET",
    path: "/api/ml/v1/model-versions",
    summary: "List model versions",
    query: {
      tag: "string",
      fqn: "string",
      model_id: "string",
      ml_repo_id: "string",
      name: "string",
      version: "integer",
      run_ids: "strings",
      run_steps: "integers",
      include_internal_metadata: "boolean",
    },
    reply: "list",
    retry: "read",
  },
  listMlRepos: {
    number: "14",
    method: "GET",
    path: "/api/ml/v1/ml-repos",
    summary: "List ml repos",
    query: { name: "string" },
    reply: "list",
    retry: "read",
  },
  markStageFailure: {
    number: "15",
    method: "POST",
    path: "/api/ml/v1/artifact-versions/mark-stage-failure",
    summary: "Mark a staged artifact version as failed",
    body: { id: requiredText },
    reply: "empty",
    retry: "repeat",
  },
  putApp: {
    number: "16",
    method: "PUT",
    path: "/api/svc/v1/apps",
    summary: "Create an application deployment",
    body: {
      manifest,
      dryRun,
      forceDeploy: { is: "boolean" },
      triggerOnDeploy: { is: "boolean" },
      workspaceId: text,
      applicationId: text,
      name: text,
      applicationSetId: text,
    },
    reply: "one",
    retry: "version",
  },
  putCluster: {
    number: "17",
    method: "PUT",
    path: "/api/svc/v1/clusters",
    summary: "Create or update a cluster",
    body: { manifest, dryRun },
    reply: "one",
    retry: "repeat",
  },
  putVirtualAccount: {
    number: "18",
    method: "PUT",
    path: "/api/svc/v1/virtual-accounts",
    summary: "Create or update a virtual account",
    body: { manifest, dryRun },
    reply: "one",
    retry: "token",
  },
  putTeam: {
    number: "19",
    method: "PUT",
    path: "/api/svc/v1/teams",
    summary: "Create or update a team",
    body: { manifest, dryRun },
    reply: "one",
    retry: "repeat",
  },
  stageArtifactVersion: {
    number: "20",
    method: "POST",
    path: "/api/ml/v1/artifact-versions/stage",
    summary: "Stage an artifact version",
    body: { manifest },
    reply: "bare",
    retry: "once",
  },
  getSecret: {
    number: "S1",
    method: "GET",
    path: "/api/svc/v1/secrets/{id}",
    summary: "Read a secret with its value",
    reply: "one",
    retry: "read",
  },
  putWorkspace: {
    number: "E1",
    method: "PUT",
    path: "/api/svc/v1/workspaces",
    summary: "Create or update a workspace",
    body: { manifest, dryRun },
    reply: "one",
    retry: "repeat",
    without: "workspaces are verified, not written",
  },
  putModelVersion: {
    number: "E2",
    method: "PUT",
    path: "/api/ml/v1/model-versions",
    summary: "Create or update a model version",
    body: { manifest },
    reply: "one",
    retry: "version",
    without: "model versions are written only by POST on the same path, and only where that is safe",
  },
  listClusters: {
    number: "E3",
    method: "GET",
    path: "/api/svc/v1/clusters",
    summary: "List clusters",
    reply: "list",
    retry: "read",
    without: "each cluster is read by its id",
  },
  listApps: {
    number: "E4",
    method: "GET",
    path: "/api/svc/v1/apps",
    summary: "List applications, each with its newest deployment",
    query: { workspaceFqn: "string", fqn: "string", applicationType: "string" },
    reply: "list",
    retry: "read",
    without: "each application is found by a dry run, or by its id in the ledger",
  },
  listVirtualAccounts: {
    number: "E5",
    method: "GET",
    path: "/api/svc/v1/virtual-accounts",
    summary: "List virtual accounts",
    reply: "list",
    retry: "read",
    without: "the live state of virtual accounts is unknown, and the ledger is used instead",
  },
  listTeams: {
    number: "E6",
    method: "GET",
    path: "/api/svc/v1/teams",
    summary: "List teams",
    reply: "list",
    retry: "read",
    without: "the live state of teams is unknown, and the ledger is used instead",
  },
  listOwnTeams: {
    number: "E6",
    method: "GET",
    path: "/api/svc/v1/teams/user",
    summary: "List the caller's teams",
    reply: "list",
    retry: "read",
  },
  putMlRepo: {
    number: "E7",
    method: "PUT",
    path: "/api/svc/v1/ml-repos",
    summary: "Create or update an ml repo",
    body: { manifest, dryRun },
    reply: "one",
    retry: "repeat",
    without: "ml repos are verified, not written",
  },
  listSecretGroups: {
    number: "E8",
    method: "GET",
    path: "/api/svc/v1/secret-groups",
    summary: "List secret groups",
    query: { fqn: "string" },
    reply: "list",
    retry: "read",
    without: "secret groups are known from the ledger alone",
  },
  listJobRuns: {
    number: "E9",
    method: "GET",
    path: "/api/svc/v1/jobs/{jobId}/runs",
    summary: "List the runs of a job",
    reply: "list",
    retry: "read",
  },
  putLease: {
    number: "E10",
    method: "PUT",
    path: "/api/svc/v1/leases/{scope}",
    summary: "Take, renew or release a lease",
    body: {
      holder: requiredText,
      ttlSeconds: { is: "integer", required: true },
      release: { is: "boolean" },
      break: { is: "boolean" },
    },
    reply: "one",
    retry: "repeat",
    isKeepAlive: true,
    without: "nothing but the lock of the state keeps two writers apart",
  },
  putSecretGroup: {
    number: "E11",
    method: "PUT",
    path: "/api/svc/v1/secret-groups",
    summary: "Create or update a secret group",
    body: { manifest },
    reply: "one",
    retry: "version",
    without: "secret groups are created, but not changed",
  },
  listPersonalAccessTokens: {
    number: "E12",
    method: "GET",
    path: "/api/svc/v1/personal-access-tokens",
    summary: "List personal access tokens",
    query: { subject: "string" },
    reply: "list",
    retry: "read",
  },
  revokePersonalAccessToken: {
    number: "E13",
    method: "POST",
    path: "/api/svc/v1/personal-access-tokens",
    summary: "Revoke a personal access token",
    body: { revoke: requiredText },
    reply: "empty",
    retry: "repeat",
  },
  getCaller: {
    number: "E14",
    method: "GET",
    path: "/api/svc/v1/me",
    summary: "Read who the caller is, and all its roles",
    reply: "one",
    retry: "read",
    without: "the token's roles are unknown, so absence is concluded only from what the interface documents",
  },
  getDigest: {
    number: "E15",
    method: "GET",
    path: "/api/svc/v1/digests",
    summary: "Read whether resources have changed",
    query: { prefix: "string" },
    reply: "one",
    retry: "read",
  },
  listAudit: {
    number: "E18",
    method: "GET",
    path: "/api/svc/v1/audit",
    summary: "List the rows of the audit log",
    query: { subject: "string", resource: "string", since: "string", after: "string", checkpoints: "boolean" },
    reply: "list",
    retry: "read",
  },
  disableSubject: {
    number: "E16",
    method: "POST",
    path: "/api/svc/v1/subjects/disable",
    summary: "Disable a virtual account or a user for good",
    body: { subject: requiredText },
    reply: "empty",
    retry: "repeat",
  },
  listUsers: {
    number: "E17",
    method: "GET",
    path: "/api/svc/v1/users",
    summary: "List users",
    query: { subject: "string" },
    reply: "list",
    retry: "read",
  },
  putUser: {
    number: "E17",
    method: "PUT",
    path: "/api/svc/v1/users",
    summary: "Add or remove a user",
    body: { email: requiredText, displayName: text, signIn: text, remove: { is: "boolean" } },
    reply: "one",
    retry: "token",
  },
  putRolloutFailures: {
    number: "E19",
    method: "PUT",
    path: "/api/svc/v1/rollout-failures",
    summary: "Set which simulated rollouts fail",
    body: { failures: { is: "list", required: true } },
    reply: "one",
    retry: "repeat",
  },
  reissueVirtualAccount: {
    number: "E20",
    method: "POST",
    path: "/api/svc/v1/virtual-accounts/{name}/reissue",
    summary: "Give a virtual account a new token",
    reply: "one",
    retry: "token",
  },
} as const satisfies { readonly [name: string]: Operation };

/** The name of an operation in the table. */
export type OperationName = keyof typeof operations;

/** The result of each operation: the object in `data`, one row of a list, or the bare object. */
export type Replies = {
  listWorkspaces: Workspace;
  listSecretDeployments: Deployment;
  putPromptVersion: PromptVersion;
  createSecretGroup: SecretGroup;
  postModelVersion: Record<string, never>;
  getCluster: Cluster;
  getPersonalAccessToken: VirtualAccount;
  getArtifact: Artifact;
  getJobRun: JobRun;
  listDeployments: Deployment;
  listAddons: Addon;
  listPromptVersions: PromptVersion;
  listModelVersions: ModelVersion;
  listMlRepos: MlRepo;
  markStageFailure: Record<string, never>;
  putApp: Deployment;
  putCluster: Cluster;
  putVirtualAccount: VirtualAccount;
  putTeam: Team;
  stageArtifactVersion: StagedArtifact;
  getSecret: SecretResource;
  putWorkspace: Workspace;
  putModelVersion: ModelVersion;
  listClusters: Cluster;
  listApps: Application;
  listVirtualAccounts: VirtualAccount;
  listTeams: Team;
  listOwnTeams: Team;
  putMlRepo: MlRepo;
  listSecretGroups: SecretGroup;
  listJobRuns: JobRun;
  putLease: LeaseResource;
  putSecretGroup: SecretGroup;
  listPersonalAccessTokens: PersonalAccessToken;
  revokePersonalAccessToken: Record<string, never>;
  getCaller: Caller;
  getDigest: RangeDigest;
  listAudit: AuditRow;
  disableSubject: Record<string, never>;
  putRolloutFailures: RolloutFailures;
  listUsers: User;
  putUser: User;
  reissueVirtualAccount: VirtualAccount;
};

type Where<Test> = { [Name in OperationName]: (typeof operations)[Name] extends Test ? Name : never }[OperationName];

/** Operations that return a page of rows. */
export type ListOperation = Where<{ reply: "list" }>;

/** Operations that read one resource. Operation 7 is a GET but writes, so it is not among them. */
export type GetOperation = Where<{ reply: "one"; retry: "read" }>;

/** Operations that write. */
export type WriteOperation = Where<{ retry: Exclude<RetryClass, "read"> }>;

/** Operations that accept `dryRun: true`. */
export type DryRunOperation = Where<{ body: { dryRun: Member } }>;

/** Finds an operation by name, with the common type of all rows. */
export function operation(name: OperationName): Operation {
  return operations[name];
}

/** Whether the operation of this name returns a page of rows. */
export function isListOperation(name: OperationName): name is ListOperation {
  return operation(name).reply === "list";
}

/** Whether the operation is one of the interface's 20, or the secret read that its rule 2 names. */
export function isDocumented({ number }: Operation): boolean {
  return !number.startsWith("E");
}

/** The path with its parameters filled in, each percent-encoded. */
export function fillPath(path: string, parameters: { readonly [name: string]: string }): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = parameters[name];
    if (value === undefined) throw new TypeError(`path ${path} needs a value for its parameter ${name}`);
    return encodeURIComponent(value);
  });
}
