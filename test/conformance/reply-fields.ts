import { interfaceResources } from "../unit/server/interface-resources.ts";

/** The fields of a reply with their forms; `[]` stands for an item of a list. */
export type ReplyFields = { readonly [path: string]: string };

const secretVersion = without(table("SecretVersion"), ["value"]);
const secret = {
  ...without(table("Secret"), ["value"]),
  ...under("secretVersions[]", secretVersion),
};
const application = {
  ...table("Application"),
  ...under("alerts[]", table("Alert")),
  ...under("applicationDebugInfos[]", table("DebugInfo")),
};

/** Every field of every reply, by what it answers: the interface's tables, and the resources that stand inside others. */
export const replyFields = {
  workspace: table("Workspace"),
  deployment: { ...table("Deployment"), ...under("application", application) },
  application: { ...application, ...under("deployment", table("Deployment")) },
  secretGroup: { ...table("SecretGroup"), ...under("associatedSecrets[]", secret) },
  // The one read that carries values.
  secret: { ...table("Secret"), ...under("secretVersions[]", table("SecretVersion")) },
  cluster: table("Cluster"),
  addon: {
    ...table("Addon"),
    "upgrades.diff[].value": "any",
    "upgrades.diff[].oldValue": "any",
    ...under("upgrades.diff[].changes[]", { type: "string", key: "string", value: "any", oldValue: "any" }),
  },
  virtualAccount: table("VirtualAccount"),
  team: table("Team"),
  mlRepo: table("MlRepo"),
  artifact: { ...table("Artifact"), ...under("latest_version", table("ModelVersion")) },
  modelVersion: table("ModelVersion"),
  promptVersion: { ...table("PromptVersion"), ...under("created_by_subject", table("Subject")) },
  jobRun: table("JobRun"),
  stagedArtifact: table("StagedArtifact"),
  lease: { scope: "string", holder: "string", fencingToken: "integer", expiresAt: "timestamp" },
  personalAccessToken: {
    id: "string",
    name: "string",
    subject: "string",
    createdAt: "timestamp",
    createdWith: "string",
    lastUsedAt: "timestamp",
    expiry: "timestamp",
  },
  user: {
    id: "string",
    subject: "string",
    displayName: "string",
    signIn: "string",
    state: "string",
    createdAt: "timestamp",
    issuer: "string",
    issuerSubject: "string",
    signedInAt: "timestamp",
    removedAt: "timestamp",
    "groups[]": "string",
  },
  caller: {
    subject: "string",
    subjectId: "string",
    tenantName: "string",
    "roles[].role": "string",
    "roles[].resourceType": "string",
    "roles[].resourceFqn": "string",
    "roles[].through": "string",
    "roles[].group": "string",
    tokenExpiresAt: "timestamp",
  },
  audit: {
    ...{ id: "string", at: "string", subject: "string", token: "string", operation: "string", resource: "string" },
    ...{ fqn: "string", outcome: "string", status: "integer", code: "string", dryRun: "boolean", created: "boolean" },
    ...{ "changes[].field": "string", "changes[].before": "any", "changes[].after": "any", address: "string" },
    ...{ requestId: "string", "chain.id": "string", "chain.number": "integer", "chain.key": "string" },
    "chain.link": "string",
  },
  digest: {
    digest: "string",
    count: "integer",
    "children[].prefix": "string",
    "children[].digest": "string",
    "children[].count": "integer",
  },
  rolloutFailures: {
    "failures[].match": "string",
    "failures[].failure": "string",
    "failures[].afterSeconds": "number",
  },
  nothing: {},
} as const satisfies { readonly [resource: string]: ReplyFields };

/** Fields that are null, or items that do not occur, in every reply: nothing that is known here could fill them. */
export const neverSet: readonly RegExp[] = [
  /ecommendations\[\]\.expiryTimestamp$/,
  // What was taken up moves to the deployment that did.
  /(?:^|\.)recommendations\[\]\.appliedDeploymentId$/,
  /(?:^|\.)metrics\[\]\./,
  /^sparkUi$/,
  // That needs an issuer: openid-connect.test.ts has it.
  /^roles\[\]\.group$/,
  // A resource inside another does not hold that one again.
  /^(?:application\.deployment|deployment\.application)\b/,
];

function table(resource: string): ReplyFields {
  const fields = interfaceResources[resource];
  if (fields === undefined) throw new TypeError(`the interface has no table of ${resource}`);
  // A manifest is what was declared: it has the fields that somebody gave it.
  return Object.fromEntries(Object.entries(fields).filter(([path]) => !path.startsWith("manifest.")));
}

function under(path: string, fields: ReplyFields): ReplyFields {
  return Object.fromEntries(Object.entries(fields).map(([name, type]) => [`${path}.${name}`, type]));
}

function without(fields: ReplyFields, names: readonly string[]): ReplyFields {
  return Object.fromEntries(Object.entries(fields).filter(([path]) => !names.includes(path)));
}
