import type { Json, JsonObject } from "./json.ts";

/** ISO 8601 UTC date-time. */
export type Timestamp = string;

/** Who did something. */
export type Subject = {
  readonly subjectId: string;
  readonly subjectType: string;
  readonly subjectSlug: string;
  readonly subjectDisplayName: string;
};

/** The position of a page in the whole list. */
export type Pagination = { readonly total: number; readonly offset: number; readonly limit: number };

type Stamps = { readonly createdAt: Timestamp; readonly updatedAt: Timestamp };
type CamelOwner = { readonly createdBy: string; readonly createdBySubject: Subject };
type SnakeOwner = { readonly created_by_subject: Subject };

/** Workspace (operations 1 and E1). */
export type Workspace = Stamps &
  CamelOwner & {
    readonly id: string;
    readonly fqn: string;
    readonly name: string;
    readonly tenantName: string;
    readonly clusterId: string;
    readonly environmentId: string | null;
    readonly accountId: string;
    readonly isSystemWs: boolean;
    readonly manifest: JsonObject;
  };

/** One entry of a deployment's status history. */
export type DeploymentStatus = Stamps & {
  readonly id: string;
  readonly deploymentId: string;
  readonly status: string;
  /** What happens next; empty where nothing does. */
  readonly transition: string;
  readonly message: string | null;
  readonly state: { readonly isTerminalState: boolean; readonly display: string };
  readonly retryCount: number;
};

/** A change the control plane proposes, computed from what it knows. */
export type Recommendation = Stamps & {
  readonly id: string;
  readonly clusterId: string;
  readonly applicationId: string;
  readonly deploymentId: string;
  readonly recommendationType: string;
  readonly appliedDeploymentId: string | null;
  readonly applicationVersion: number;
  readonly recommendationData: JsonObject;
  readonly expiryTimestamp: Timestamp | null;
};

/** A condition of an application that needs attention. */
export type Alert = {
  readonly id: string;
  readonly name: string;
  readonly applicationId: string;
  readonly clusterId: string;
  readonly tenantName: string;
  readonly fingerprint: string;
  readonly applicationDebugInfoId: string | null;
  readonly timestamps: readonly Timestamp[];
  readonly startTime: Timestamp;
  readonly resolvedTime: Timestamp | null;
  readonly updatedAt: string;
  readonly createdAt: string;
};

/** Diagnostic data of a failing application. */
export type DebugInfo = Stamps & {
  readonly id: string;
  readonly applicationId: string;
  readonly application: JsonObject;
  readonly debugInfo: JsonObject;
};

/** Application (inside a deployment, and E4 with its newest `deployment`). */
export type Application = Stamps &
  CamelOwner & {
    readonly id: string;
    readonly fqn: string;
    readonly name: string;
    readonly type: string;
    readonly tenantName: string;
    readonly workspaceId: string;
    readonly workspaceFqn: string;
    readonly activeDeploymentId: string | null;
    readonly lastDeploymentId: string | null;
    readonly metadata: { readonly paused: boolean };
    readonly lifecycleStage: string;
    readonly lastVersion: number;
    readonly activeVersion: number | null;
    readonly recommendations: readonly Recommendation[];
    readonly alerts: readonly Alert[];
    readonly alertsSummary: JsonObject;
    readonly autopilot: JsonObject;
    readonly deployment: Deployment | null;
    readonly applicationDebugInfos: readonly DebugInfo[];
    readonly potentialProblems: readonly { readonly name: string; readonly description: string }[];
  };

/** Deployment (operations 10 and 16); a dryRun answers it without `id`. */
export type Deployment = Stamps &
  CamelOwner & {
    readonly id: string | null;
    readonly fqn: string;
    readonly applicationId: string | null;
    readonly currentStatusId: string | null;
    readonly version: number;
    readonly manifest: JsonObject;
    readonly application: Application | null;
    readonly deploymentBuilds: readonly { readonly name: string; readonly status: number }[];
    readonly deploymentStatuses: readonly DeploymentStatus[];
    readonly currentStatus: DeploymentStatus | null;
    readonly appliedRecommendations: readonly Recommendation[];
  };

/** Version of a secret; `value` is present in the secret read alone. */
export type SecretVersion = Stamps & {
  readonly id: string;
  readonly fqn: string;
  readonly value?: string;
  readonly secretId: string;
  readonly version: number;
  readonly secret: JsonObject | null;
};

/** Secret; `value` is present in the secret read alone. */
export type SecretResource = Stamps &
  CamelOwner & {
    readonly id: string;
    readonly fqn: string;
    readonly name: string;
    readonly secretGroupId: string;
    readonly value?: string;
    readonly secretVersions: readonly SecretVersion[];
    readonly activeDeploymentsCount: number;
  };

/** Secret group (operations 4 and E8). */
export type SecretGroup = Stamps &
  CamelOwner & {
    readonly id: string;
    readonly fqn: string;
    readonly name: string;
    readonly tenantName: string;
    readonly integrationId: string;
    readonly associatedSecrets: readonly SecretResource[];
    readonly manifest: JsonObject;
  };

/** Cluster (operations 6, 17 and E3). */
export type Cluster = Stamps &
  CamelOwner & {
    readonly id: string;
    readonly fqn: string;
    readonly name: string;
    readonly tenantName: string;
    readonly accountId: string;
    readonly manifest: JsonObject;
  };

/** Virtual account or personal access token (operations 7, 18 and E5). */
export type VirtualAccount = Stamps &
  CamelOwner & {
    readonly id: string | null;
    readonly name: string;
    readonly type: string;
    readonly tenantName: string;
    readonly jwtId: string | null;
    readonly accountId: string;
    readonly nextScheduledRotation: Timestamp | null;
    readonly manifest: JsonObject;
    readonly isExpired: boolean;
    readonly jwts: readonly (Stamps & {
      readonly id: string;
      readonly subjectType: string;
      readonly subjectId: string;
      readonly metadata: JsonObject;
      /** When it expires; the end of the year 9999 when it never does. */
      readonly expiry: Timestamp;
    })[];
    readonly metadata: JsonObject;
  };

/** Team (operations 19 and E6). */
export type Team = Stamps & {
  readonly id: string | null;
  readonly teamName: string;
  readonly description: string;
  readonly tenantName: string;
  readonly accountId: string;
  readonly createdBySubject: Subject;
  readonly members: readonly string[];
  readonly manifest: JsonObject;
};

/** ML repo (operations 14 and E7). */
export type MlRepo = SnakeOwner & {
  readonly id: string | null;
  readonly tenant_name: string;
  readonly account_id: string;
  readonly manifest: JsonObject;
  readonly created_at: Timestamp;
  readonly num_runs: number;
  readonly datasets_count: number;
  readonly artifact_type_counts: JsonObject;
};

type RegistryVersion = SnakeOwner & {
  readonly id: string;
  readonly fqn: string;
  readonly ml_repo_id: string;
  readonly usage_code_snippet: string | null;
  readonly created_at: Timestamp;
  readonly updated_at: Timestamp;
  readonly manifest: JsonObject;
  readonly tags: readonly string[];
};

/** Model version (operations 13 and E2). */
export type ModelVersion = RegistryVersion & {
  readonly model_id: string;
  readonly metrics: readonly {
    readonly key: string;
    readonly value: number;
    readonly timestamp: number;
    readonly step: number;
  }[];
  readonly deployable: boolean;
};

/** Prompt version (operations 3 and 12). */
export type PromptVersion = RegistryVersion & {
  readonly prompt_id: string;
  readonly usage_code_snippets: readonly {
    readonly display_name: string;
    readonly language: string;
    readonly libraries: readonly string[];
    readonly code: string;
  }[];
};

/** Artifact (operation 8). */
export type Artifact = SnakeOwner & {
  readonly id: string;
  readonly ml_repo_id: string;
  readonly name: string;
  readonly fqn: string;
  readonly type: string;
  readonly created_at: Timestamp;
  readonly updated_at: Timestamp;
  readonly latest_version: ModelVersion | PromptVersion | null;
  readonly run_steps: readonly number[];
};

/** A Helm release, as the manifests of an addon are returned. */
export type AddonHelmManifest = {
  readonly type: "helm";
  readonly name: string;
  readonly labels: JsonObject;
  readonly source: {
    readonly type: string;
    readonly repo_url: string;
    readonly integration_fqn: string | null;
    readonly chart: string;
    readonly version: string;
  };
  readonly values: JsonObject;
  readonly kustomize: { readonly patch: JsonObject; readonly additions: readonly JsonObject[] } | null;
  readonly ignoreDifferences: readonly JsonObject[];
  readonly workspace_fqn: string | null;
};

/** One difference between two Helm manifests; when both sides are objects, `changes` has one entry for each member. */
export type AddonDifference = {
  readonly type: "ADD" | "REMOVE" | "CHANGE";
  readonly key: string;
  readonly value: Json;
  readonly oldValue: Json;
  readonly changes: readonly AddonDifference[];
};

/** Addon component of a cluster (operation 11). */
export type Addon = {
  readonly name: string;
  readonly appName: string;
  readonly namespace: string;
  readonly applicationId: string | null;
  readonly description: string;
  readonly path: string;
  readonly addonFolder: string;
  readonly version: string;
  readonly installationSource: string | null;
  readonly workspaceId: string | null;
  readonly installed: boolean;
  readonly required: boolean;
  readonly status: { readonly healthStatus: string; readonly syncStatus: string; readonly installed: boolean };
  readonly manifest: JsonObject;
  readonly unsupportedClusterTypes: readonly string[];
  readonly knownCRDs: readonly string[];
  readonly labels: readonly string[];
  readonly source: { readonly repo_url: string; readonly chart: string };
  readonly upgrades: {
    readonly diff: readonly AddonDifference[];
    readonly currentManifest: AddonHelmManifest | null;
    readonly desiredManifest: AddonHelmManifest;
    readonly upgradePossible: boolean;
    readonly conflictFields: readonly string[];
    readonly hasConflict: boolean;
  };
  readonly recommendations: readonly Recommendation[];
};

/** Job run (operations 9 and E9); `createdAt` and `endTime` in epoch milliseconds, `duration` in seconds. */
export type JobRun = {
  readonly name: string;
  readonly applicationName: string;
  readonly deploymentVersion: string;
  readonly command: string;
  readonly error: string | null;
  readonly triggeredBy: string;
  readonly sparkUi: string | null;
  readonly createdAt: number;
  readonly endTime: number | null;
  readonly duration: number | null;
  readonly totalRetries: number;
  readonly exitCode: number | null;
  readonly status: string;
  readonly triggeredBySubject: Subject;
};

/** Answer of operation 20: a bare object, no envelope. */
export type StagedArtifact = { readonly id: string; readonly storage_root: string; readonly artifact_id: string };

/** Answer of E10. */
export type LeaseResource = {
  readonly scope: string;
  readonly holder: string;
  readonly fencingToken: number;
  readonly expiresAt: Timestamp;
};

/** A personal access token in a list (E12), without the token itself. */
export type PersonalAccessToken = {
  readonly id: string;
  readonly name: string;
  /** Its owner, as named in `collaborators`. */
  readonly subject: string;
  readonly createdAt: Timestamp;
  /** The credential that created it, as `kind/name`. */
  readonly createdWith: string | null;
  readonly lastUsedAt: Timestamp | null;
  readonly expiry: Timestamp | null;
};

/** One error in a refused manifest; `pointer` is relative to the manifest (`/ports/0/host`). */
export type ErrorDetail = { readonly pointer: string; readonly message: string; readonly code: string };

/** Body of every error reply. */
export type ErrorBody = {
  readonly statusCode: number;
  readonly message: string;
  readonly code?: string;
  readonly details?: readonly ErrorDetail[];
};
