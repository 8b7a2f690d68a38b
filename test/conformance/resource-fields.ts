/** Form of a field of a reply, as the interface's resource tables give it. */
export type FieldType = "string" | "integer" | "number" | "boolean" | "object" | "array" | "timestamp" | "any";

/** The fields of a resource; `[]` stands for an item of a list. */
export type ResourceFields = { readonly [path: string]: FieldType };

const strings = (...names: readonly string[]): ResourceFields =>
  Object.fromEntries(names.map((name) => [name, "string"]));
const objects = (...names: readonly string[]): ResourceFields =>
  Object.fromEntries(names.map((name) => [name, "object"]));
const timestamps = (...names: readonly string[]): ResourceFields =>
  Object.fromEntries(names.map((name) => [name, "timestamp"]));

const stamps = timestamps("createdAt", "updatedAt");
const snakeStamps = timestamps("created_at", "updated_at");

const subject = strings("subjectId", "subjectType", "subjectSlug", "subjectDisplayName");

const owner: ResourceFields = { createdBy: "string", ...part("createdBySubject", subject) };

const recommendation: ResourceFields = {
  ...strings("id", "clusterId", "applicationId", "deploymentId", "recommendationType", "appliedDeploymentId"),
  applicationVersion: "integer",
  recommendationData: "object",
  ...timestamps("expiryTimestamp"),
  ...stamps,
};

const alert: ResourceFields = {
  ...strings("id", "name", "applicationId", "clusterId", "tenantName", "fingerprint", "applicationDebugInfoId"),
  timestamps: "array",
  "timestamps[]": "timestamp",
  ...timestamps("startTime", "resolvedTime"),
  ...strings("updatedAt", "createdAt"),
};

const debugInfo: ResourceFields = {
  ...strings("id", "applicationId"),
  ...objects("application", "debugInfo"),
  ...stamps,
};

const status: ResourceFields = {
  ...strings("id", "deploymentId", "message", "status", "transition"),
  state: "object",
  retryCount: "integer",
  ...stamps,
};

/** An application, but for the deployment inside it. */
const application: ResourceFields = {
  ...strings(
    "id",
    "fqn",
    "name",
    "tenantName",
    "workspaceId",
    "workspaceFqn",
    "activeDeploymentId",
    "lastDeploymentId",
  ),
  ...owner,
  type: "string",
  metadata: "object",
  "metadata.paused": "boolean",
  lifecycleStage: "string",
  lastVersion: "integer",
  activeVersion: "integer",
  ...stamps,
  ...items("recommendations", recommendation),
  ...items("alerts", alert),
  ...objects("alertsSummary", "autopilot", "deployment"),
  ...items("applicationDebugInfos", debugInfo),
  ...items("potentialProblems", strings("name", "description")),
};

/** A deployment, but for the application inside it. */
const deployment: ResourceFields = {
  ...strings("id", "fqn", "applicationId", "currentStatusId"),
  version: "integer",
  ...objects("manifest", "application"),
  ...owner,
  ...stamps,
  ...items("deploymentBuilds", { name: "string", status: "integer" }),
  ...items("deploymentStatuses", status),
  ...part("currentStatus", status),
  ...items("appliedRecommendations", recommendation),
};

const secretVersion: ResourceFields = {
  ...strings("id", "fqn", "secretId"),
  version: "integer",
  secret: "object",
  ...stamps,
};

/** A secret; the value is what one read alone answers. */
const secret: ResourceFields = {
  ...strings("id", "fqn", "name", "secretGroupId"),
  ...owner,
  ...stamps,
  ...items("secretVersions", secretVersion),
  activeDeploymentsCount: "integer",
};

const difference: ResourceFields = { ...strings("type", "key"), value: "any", oldValue: "any", changes: "array" };

const helm: ResourceFields = {
  ...strings("type", "name", "workspace_fqn"),
  ...objects("labels", "values"),
  ...part("source", strings("type", "repo_url", "integration_fqn", "chart", "version")),
  kustomize: "object",
  ignoreDifferences: "array",
};

const registryVersion: ResourceFields = {
  ...strings("id", "fqn", "ml_repo_id", "usage_code_snippet"),
  ...part("created_by_subject", subject),
  ...snakeStamps,
  manifest: "object",
  tags: "array",
};

const modelVersion: ResourceFields = {
  ...registryVersion,
  model_id: "string",
  metrics: "array",
  deployable: "boolean",
};

const snippet: ResourceFields = { ...strings("display_name", "language", "code"), libraries: "array" };

/** Every field of the resource tables of the interface, written down by hand. */
export const resourceFields = {
  workspace: {
    ...strings("id", "fqn", "name", "tenantName", "clusterId", "environmentId", "accountId"),
    ...owner,
    ...stamps,
    isSystemWs: "boolean",
    manifest: "object",
  },
  deployment: { ...deployment, ...part("application", application) },
  application: { ...application, ...part("deployment", deployment) },
  secretGroup: {
    ...strings("id", "fqn", "name", "tenantName", "integrationId"),
    ...owner,
    ...items("associatedSecrets", secret),
    manifest: "object",
    ...stamps,
  },
  secret: { ...secret, value: "string", "secretVersions[].value": "string" },
  cluster: {
    ...strings("id", "fqn", "name", "tenantName", "accountId"),
    manifest: "object",
    ...owner,
    ...stamps,
  },
  addon: {
    ...strings("name", "appName", "namespace", "applicationId", "description", "path", "addonFolder", "version"),
    ...strings("installationSource", "workspaceId"),
    installed: "boolean",
    required: "boolean",
    ...part("status", { ...strings("healthStatus", "syncStatus"), installed: "boolean" }),
    manifest: "object",
    unsupportedClusterTypes: "array",
    knownCRDs: "array",
    "knownCRDs[]": "string",
    labels: "array",
    "labels[]": "string",
    ...part("source", strings("repo_url", "chart")),
    ...part("upgrades", {
      ...items("diff", { ...strings("type", "key"), value: "any", oldValue: "any", ...items("changes", difference) }),
      ...part("currentManifest", helm),
      ...part("desiredManifest", helm),
      upgradePossible: "boolean",
      conflictFields: "array",
      hasConflict: "boolean",
    }),
    ...items("recommendations", recommendation),
  },
  virtualAccount: {
    ...strings("id", "name", "type", "tenantName", "jwtId", "accountId"),
    nextScheduledRotation: "timestamp",
    manifest: "object",
    ...owner,
    ...stamps,
    isExpired: "boolean",
    ...items("jwts", {
      ...strings("id", "subjectType", "subjectId"),
      metadata: "object",
      expiry: "timestamp",
      ...stamps,
    }),
    metadata: "object",
  },
  team: {
    ...strings("id", "teamName", "description", "tenantName", "accountId"),
    ...part("createdBySubject", subject),
    members: "array",
    "members[]": "string",
    ...stamps,
    manifest: "object",
  },
  mlRepo: {
    ...strings("id", "tenant_name", "account_id"),
    manifest: "object",
    ...part("created_by_subject", subject),
    created_at: "timestamp",
    num_runs: "integer",
    datasets_count: "integer",
    artifact_type_counts: "object",
  },
  artifact: {
    ...strings("id", "ml_repo_id", "name", "fqn", "type"),
    ...part("created_by_subject", subject),
    ...snakeStamps,
    ...part("latest_version", modelVersion),
    run_steps: "array",
    "run_steps[]": "integer",
  },
  modelVersion,
  promptVersion: { ...registryVersion, prompt_id: "string", ...items("usage_code_snippets", snippet) },
  jobRun: {
    ...strings("name", "applicationName", "deploymentVersion", "command", "error", "triggeredBy", "sparkUi"),
    createdAt: "number",
    endTime: "number",
    duration: "number",
    totalRetries: "integer",
    exitCode: "integer",
    status: "string",
    ...part("triggeredBySubject", subject),
  },
  stagedArtifact: strings("id", "storage_root", "artifact_id"),
  lease: { ...strings("scope", "holder"), fencingToken: "integer", expiresAt: "timestamp" },
  nothing: {},
} as const satisfies { readonly [resource: string]: ResourceFields };

/** Fields that are null in every reply: nothing that this control plane knows could fill them. */
export const alwaysNull: readonly RegExp[] = [
  /ecommendations\[\]\.expiryTimestamp$/,
  // What was taken up moves to the deployment that did.
  /(?:^|\.)recommendations\[\]\.appliedDeploymentId$/,
  /^sparkUi$/,
  /^(?:deployment\.application|application\.deployment)$/,
];

function part(name: string, fields: ResourceFields): ResourceFields {
  const inner = Object.entries(fields).map(([path, type]) => [`${name}.${path}`, type] as const);
  return { [name]: "object", ...Object.fromEntries(inner) };
}

function items(name: string, fields: ResourceFields): ResourceFields {
  const inner = Object.entries(fields).map(([path, type]) => [`${name}[].${path}`, type] as const);
  return { [name]: "array", ...Object.fromEntries(inner) };
}
