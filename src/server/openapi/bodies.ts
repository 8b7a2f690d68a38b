import type { Member, Operation, OperationName, operations } from "../../contract/operations.ts";
import { manifestName } from "./manifest-name.ts";
import { refTo, type Schema } from "./schema.ts";
import { groupName, integrationId, secretList } from "./secret-members.ts";

type Table = typeof operations;
type Bodies = { [Name in OperationName]: Table[Name] extends { readonly body: infer Forms } ? Forms : never };
type MemberNames = { [Name in OperationName]: keyof Bodies[Name] & string }[OperationName];
type WithManifest = {
  [Name in OperationName]: Table[Name] extends { readonly body: { readonly manifest: unknown } } ? Name : never;
}[OperationName];

const manifests: { readonly [Name in WithManifest]: Schema } = {
  putWorkspace: { $ref: refTo(manifestName("workspace")) },
  putCluster: { $ref: refTo(manifestName("cluster")) },
  putApp: { $ref: refTo("ApplicationManifest") },
  putTeam: { $ref: refTo(manifestName("team")) },
  putVirtualAccount: { $ref: refTo(manifestName("virtual-account")) },
  putMlRepo: { $ref: refTo(manifestName("ml-repo")) },
  putPromptVersion: { $ref: refTo(manifestName("chat_prompt")) },
  postModelVersion: { $ref: refTo(manifestName("model-version")) },
  putModelVersion: { $ref: refTo(manifestName("model-version")) },
  stageArtifactVersion: {
    description: "A model version, or a version of a plain artifact",
    anyOf: [{ $ref: refTo(manifestName("model-version")) }, { $ref: refTo("ArtifactVersionManifest") }],
  },
  putSecretGroup: { $ref: refTo("SecretGroupManifest") },
};

const words: { readonly [Name in MemberNames]: Schema } = {
  manifest: { description: "What is declared" },
  dryRun: {
    description:
      "Check everything as the write would and answer what it would answer, but write nothing. A new resource has no id then",
    default: false,
  },
  forceDeploy: { description: "Cancel a deployment that is still in progress", default: false },
  triggerOnDeploy: { description: "Of a job: start a run once it is deployed", default: false },
  workspaceId: { description: "Workspace, when the manifest does not name it; both must agree" },
  applicationId: { description: "Application that a new version is for; it must be the one that the manifest names" },
  name: groupName,
  applicationSetId: { description: "Set of applications that it belongs to; carried" },
  integrationId,
  secrets: secretList,
  id: {
    description: "Id of the staged version",
    minLength: 1,
    examples: ["019aa2c4-7f5e-7c3b-9d1e-4b8a52f0c6d1"],
  },
  revoke: {
    description: "Id of the token that is to end",
    minLength: 1,
    examples: ["019aa2c4-7f5e-7c3b-9d1e-4b8a52f0c6d1"],
  },
  holder: { description: "Who takes the lease", minLength: 1, maxLength: 256, examples: ["holdfast-0"] },
  ttlSeconds: {
    description: "How long the lease is valid unless renewed; the server has a longest time, by default 900 seconds",
    minimum: 1,
    examples: [30],
    "x-unit": "seconds",
  },
  release: { description: "Give the lease back instead", default: false },
  break: {
    description:
      "End the leases that others hold on the scope, above it or in it, which needs admin on each; with `release`, the one on the scope alone",
    default: false,
  },
};

/** The schema of an operation's body; null when it takes none. */
export function bodyOf(name: OperationName, { body }: Operation): Schema | null {
  if (body === undefined) return null;
  const members = Object.entries(body);
  return {
    type: "object",
    required: members.filter(([, { required }]) => required === true).map(([member]) => member),
    properties: Object.fromEntries(members.map(([member, form]) => [member, memberSchema(name, member, form)])),
    additionalProperties: false,
  };
}

function memberSchema(operation: OperationName, member: string, { is }: Member): Schema {
  if (member === "manifest") return manifests[operation as WithManifest];
  // The word `name` is the group's where one is made, and an application's elsewhere.
  if (member === "name" && operation === "putApp") {
    return { description: "Name of the application, as the manifest has it", type: "string" };
  }
  return { ...words[member as MemberNames], type: is === "list" ? "array" : is };
}
