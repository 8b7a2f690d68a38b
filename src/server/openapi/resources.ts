import type { OperationName } from "../../contract/operations.ts";
import { lease, personalAccessToken, team, virtualAccount } from "./account-resources.ts";
import { addon, addonDifference, helmManifest } from "./addon-resources.ts";
import {
  alert,
  application,
  debugInfo,
  deployment,
  deploymentStatus,
  jobRun,
  recommendation,
} from "./application-resources.ts";
import { errorForm, pagination, subject } from "./common-resources.ts";
import { cluster, secret, secretGroup, secretVersion, workspace } from "./platform-resources.ts";
import { artifact, mlRepo, modelVersion, promptVersion, stagedArtifact } from "./registry-resources.ts";
import type { Schema } from "./schema.ts";

const forms = {
  Workspace: workspace,
  Application: application,
  Deployment: deployment,
  DeploymentStatus: deploymentStatus,
  Recommendation: recommendation,
  Alert: alert,
  DebugInfo: debugInfo,
  JobRun: jobRun,
  SecretGroup: secretGroup,
  Secret: secret,
  SecretVersion: secretVersion,
  Cluster: cluster,
  Addon: addon,
  AddonDifference: addonDifference,
  HelmManifest: helmManifest,
  VirtualAccount: virtualAccount,
  Team: team,
  MlRepo: mlRepo,
  Artifact: artifact,
  ModelVersion: modelVersion,
  PromptVersion: promptVersion,
  StagedArtifact: stagedArtifact,
  Lease: lease,
  PersonalAccessToken: personalAccessToken,
  Subject: subject,
  Pagination: pagination,
  Error: errorForm,
} as const;

/** Name of a resource in the document. */
export type ResourceName = keyof typeof forms;

/** The schema of every resource, by its name. */
export const resources: ReadonlyMap<ResourceName, Schema> = new Map(
  Object.entries(forms).map(([name, { schema }]) => [name as ResourceName, schema]),
);

/** The resource that each operation answers; null for an empty object. */
export const answered: { readonly [Name in OperationName]: ResourceName | null } = {
  listWorkspaces: "Workspace",
  putWorkspace: "Workspace",
  listSecretDeployments: "Deployment",
  putPromptVersion: "PromptVersion",
  listPromptVersions: "PromptVersion",
  createSecretGroup: "SecretGroup",
  putSecretGroup: "SecretGroup",
  listSecretGroups: "SecretGroup",
  postModelVersion: null,
  putModelVersion: "ModelVersion",
  listModelVersions: "ModelVersion",
  getCluster: "Cluster",
  putCluster: "Cluster",
  listClusters: "Cluster",
  getPersonalAccessToken: "VirtualAccount",
  putVirtualAccount: "VirtualAccount",
  listVirtualAccounts: "VirtualAccount",
  getArtifact: "Artifact",
  getJobRun: "JobRun",
  listJobRuns: "JobRun",
  listDeployments: "Deployment",
  putApp: "Deployment",
  listApps: "Application",
  listAddons: "Addon",
  listMlRepos: "MlRepo",
  putMlRepo: "MlRepo",
  markStageFailure: null,
  stageArtifactVersion: "StagedArtifact",
  putTeam: "Team",
  listTeams: "Team",
  listOwnTeams: "Team",
  getSecret: "Secret",
  putLease: "Lease",
  listPersonalAccessTokens: "PersonalAccessToken",
  revokePersonalAccessToken: null,
};
