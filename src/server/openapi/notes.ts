import type { OperationName } from "../../contract/operations.ts";

const PUT_SAME =
  "A PUT replaces the manifest as a whole. The same manifest again changes nothing, `updatedAt` included.";
const VERSIONED =
  "What counts as content is the manifest without `version`, `description`, `metadata` and `version_alias`. With a `version`: equal content updates those three in place, changed content is 409, the newest number + 1 is made, anything further ahead is 422. Without one: content equal to the newest updates in place, other content is the next version. A `version_alias` moves to the version being written.";

/** What there is to know about each operation beyond its summary; paragraphs are separated by blank lines. */
export const notes: { readonly [Name in OperationName]: string } = {
  listWorkspaces: "Answers the workspaces that the caller may see, newest first.",
  listSecretDeployments:
    "Answers the deployments that serve and use the secret, by a mount or in an environment variable.",
  putPromptVersion: VERSIONED,
  createSecretGroup:
    "Every secret starts with version 1. The reply has no `value`: a value is read by `GET /api/svc/v1/secrets/{id}` alone. Values are sealed at rest.\n\nNeeds the role tenant-admin. A group that exists is 409, an unknown `integrationId` 422.",
  postModelVersion: `Registers a version and answers an empty object.\n\n${VERSIONED}\n\nA manifest whose \`source\` is \`{type: platform, uri: <storage_root>}\` completes that stage; the version keeps the staged id.`,
  getCluster: "A cluster's id, fqn and name are the same text.",
  getPersonalAccessToken:
    "Answers the caller's own token of that name. When there is none it is made: `created` is true, and `token` is in this reply only. It ends with the credential that made it, or when it is revoked.\n\nAlthough a GET, this is a write: do not repeat it blindly.",
  getArtifact: "Takes what versions carry as `artifact_id`, `model_id` or `prompt_id`.",
  getJobRun: "`jobId` is the id of the application.",
  listDeployments:
    "Newest first; `version` and `deploymentId` narrow the list. In each deployment `deploymentStatuses` is oldest first.",
  listAddons: "The catalogue of the cluster by name, with what an upgrade would change.",
  listPromptVersions: "Newest first.",
  listModelVersions: "Newest first.",
  listMlRepos: "Newest first.",
  markStageFailure:
    "A stage that failed cannot be registered any more. May be repeated; a stage that was registered is 409.",
  putApp:
    "Makes a new deployment of the application that the manifest names in its workspace, and the application itself when it is new. An equal manifest makes a new version all the same.\n\nWhile a deployment is in progress the answer is 409, unless `forceDeploy` cancels that one. Needs write on the workspace.",
  putCluster: PUT_SAME,
  putVirtualAccount: `${PUT_SAME}\n\n\`token\` is in the reply that creates the account, and never again. Nobody can grant a role that they do not hold.`,
  putTeam: `${PUT_SAME}\n\nA name is unique across teams and SSO teams.`,
  stageArtifactVersion:
    "Makes room for the files of a version: put them under `storage_root`, then register the version with that `source`, or mark the stage as failed. The version is listed once it is registered.",
  getSecret: "The one reply that carries a secret value. Needs admin on the tenant; every read is audited.",
  putWorkspace: PUT_SAME,
  putModelVersion: VERSIONED,
  listClusters: "Answers the clusters that the caller may see, newest first.",
  listApps: "Newest first; `deployment` of each is its newest.",
  listVirtualAccounts: "Newest first.",
  listTeams: "Newest first.",
  listOwnTeams: "The teams of which the caller is a member or manager, newest first.",
  putMlRepo: PUT_SAME,
  listSecretGroups: "Newest first, without values.",
  listJobRuns: "Newest first.",
  putLease:
    "Takes the lease, renews it for its holder, or releases it. Scopes are a tree: everything (the tenant's name), a cluster `c`, a workspace `c:w`; ml repos and other texts stand right below everything. 409 while somebody else holds it, or a lease above or below it. Needs write on what the scope names. `fencingToken` comes from one sequence for all scopes; sent as `X-Fencing-Token` it keeps writers out that lost the lease.",
  putSecretGroup:
    "A changed value becomes a new version of its secret; equal values change nothing. `collaborators` are replaced: they hold the role `secret-group-user`, which naming the group's secrets in manifests takes. Needs the role tenant-admin.",
  listPersonalAccessTokens:
    "The caller's own, newest first; a tenant-admin sees everyone's. A token ends with the credential that made it, and is listed no more then.",
  revokePersonalAccessToken:
    "Ends a token of the caller's own, and those that were made with it, at once; a tenant-admin may end anyone's. A token that is gone already is 404.",
};
