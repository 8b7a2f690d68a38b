import { isObject, type Json, type JsonObject } from "../contract/json.ts";
import { escapePointer } from "../contract/json-pointer.ts";
import { RESOLVED_FIELDS, secretReferences } from "../contract/secret-references.ts";
import { roleTypeOf, shortFqn } from "./roles.ts";

/** A resource that a manifest refers to, and the position of the reference. */
export type ResourceReference = { readonly kind: string; readonly key: string; readonly pointer: string };

/** How manifests of any kind refer to resources: the only map from fields, subjects and owners to kinds. */
export const referenceKinds = {
  /** Top-level fields. */
  fields: { cluster_fqn: "cluster", workspace_fqn: "workspace", ml_repo: "ml-repo" },
  /** Fields of mounts and downloads within an application. */
  used: { volume_fqn: "volume", artifact_version_fqn: "model-version" },
  /** The part of a subject before the colon. */
  subjects: { team: "team", virtualaccount: "virtual-account" },
  /** `ownedBy.team`. */
  owner: "team",
  /** The group in `secret://tenant:group:key`. */
  secret: "secret-group",
} as const;

/** All references of a manifest, whatever its kind; `tenant` is ours. */
export function referencesOf(manifest: JsonObject, tenant: string): readonly ResourceReference[] {
  return [...referencesWithoutSecrets(manifest, tenant), ...secretsOf(manifest)];
}

/** The references of a manifest to anything except secrets; `tenant` is null while our tenant is unknown. */
export function referencesWithoutSecrets(manifest: JsonObject, tenant: string | null): readonly ResourceReference[] {
  const { ownedBy, collaborators, permissions } = manifest;
  const found: ResourceReference[] = [];
  // A fast path: a plan reads every manifest, and most have only one of these fields.
  for (const { field, kind, pointer } of fields) {
    const key = manifest[field];
    if (typeof key === "string") found.push({ kind, key, pointer });
  }
  if (isObject(ownedBy)) found.push(...named(referenceKinds.owner, ownedBy.team, "/ownedBy/team"));
  for (const [item, at] of items(collaborators)) found.push(...subjectReference(item, `/collaborators/${at}/subject`));
  for (const [item, at] of items(permissions))
    found.push(...permissionReference(item, `/permissions/${at}/resource_fqn`, tenant));
  return found;
}

const fields = Object.entries(referenceKinds.fields).map(([field, kind]) => ({ field, kind, pointer: `/${field}` }));
const NONE: readonly never[] = [];

// Applications name what they use within these fields.
const USING_FIELDS = ["mounts", "artifacts_download", "params", "components", "flyte_entities"];

/**
 * The resources that an application uses: volumes that it mounts, versions that it downloads and repositories that its
 * parameters default to, also within the applications of a set and the tasks of a workflow. The control plane does not
 * check them.
 */
export function usedBy(manifest: JsonObject): readonly ResourceReference[] {
  const found: ResourceReference[] = [];
  for (const field of USING_FIELDS) {
    const value = manifest[field];
    // Most use none.
    if (typeof value === "object") addUsed(value, `/${field}`, found);
  }
  return found;
}

function addUsed(value: Json, pointer: string, found: ResourceReference[]): void {
  if (typeof value !== "object" || value === null) return;
  for (const [name, item] of Object.entries(value)) {
    const used = typeof item === "string" ? usedResource(name, item, value) : null;
    if (used !== null) found.push({ ...used, pointer: placeOf(pointer, name) });
    else if (typeof item === "object" && !RESOLVED_FIELDS.has(name)) addUsed(item, placeOf(pointer, name), found);
  }
}

const { used: usedKinds } = referenceKinds;

function usedResource(name: string, text: string, beside: Json): Omit<ResourceReference, "pointer"> | null {
  if (name === "volume_fqn") return resource(usedKinds.volume_fqn, applicationKey(text));
  if (name === "artifact_version_fqn") return resource(usedKinds.artifact_version_fqn, modelVersionKey(text));
  const isRepository = name === "default" && text !== "" && isObject(beside) && beside.param_type === "ml_repo";
  const kind = referenceKinds.fields.ml_repo;
  return isRepository ? { kind, key: shortFqn(kind, text, null) } : null;
}

function resource(kind: string, key: string | null): Omit<ResourceReference, "pointer"> | null {
  return key === null ? null : { kind, key };
}

// `cluster:workspace:name`, before which the platform writes `tfy-volume://`
function applicationKey(fqn: string): string | null {
  const [, workspace, name] = /^(?:tfy-volume:\/\/)?([^:/]+:[^:/]+):([^:/]+)$/.exec(fqn) ?? [];
  return workspace === undefined ? null : `${workspace}/${name}`;
}

// `model:tenant/repo/name:version`
function modelVersionKey(fqn: string): string | null {
  const [, name, version] = /^model:[^/:]+\/([^/:]+\/[^/:]+):(\d+)$/.exec(fqn) ?? [];
  return name === undefined ? null : `${name}@${version}`;
}

/** The secrets that a manifest names. */
export function secretsOf(manifest: JsonObject): readonly ResourceReference[] {
  const found: ResourceReference[] = [];
  addSecrets(manifest, "", found);
  return found;
}

function named(kind: string, value: Json | undefined, pointer: string): readonly ResourceReference[] {
  return typeof value === "string" ? [{ kind, key: value, pointer }] : NONE;
}

function subjectReference({ subject }: JsonObject, pointer: string): readonly ResourceReference[] {
  const resource = typeof subject === "string" ? subjectResource(subject) : null;
  return resource === null ? [] : [{ ...resource, pointer }];
}

// The team or virtual account that a role is granted to; null for people, who are managed in the identity provider.
function subjectResource(subject: string): { readonly kind: string; readonly key: string } | null {
  const [scheme = "", key = ""] = subject.split(":", 2);
  const kind = kindOfSubject(scheme);
  return kind === undefined ? null : { kind, key };
}

function permissionReference(
  { resource_type: type, resource_fqn: fqn }: JsonObject,
  pointer: string,
  tenant: string | null,
): readonly ResourceReference[] {
  if (typeof fqn !== "string" || typeof type !== "string" || roleTypeOf(type) === undefined) return [];
  return [{ kind: type, key: shortFqn(type, fqn, tenant), pointer }];
}

// An application may contain others, each with its own environment and mounts.
function addSecrets(value: Json, pointer: string, found: ResourceReference[]): void {
  if (typeof value !== "object" || value === null) return;
  for (const [key, item] of Object.entries(value)) {
    if (key === "secret_fqn" || key.endsWith("_secret_fqn")) {
      found.push(...named("secret", item, placeOf(pointer, key)));
    } else if (RESOLVED_FIELDS.has(key)) found.push(...secrets(item, placeOf(pointer, key)));
    else if (typeof item === "object") addSecrets(item, placeOf(pointer, key), found);
  }
}

function placeOf(pointer: string, key: string): string {
  return `${pointer}/${escapePointer(key)}`;
}

function secrets(value: Json, pointer: string): readonly ResourceReference[] {
  return secretReferences(value, pointer).map((secret) => ({
    kind: "secret",
    key: secret.fqn,
    pointer: secret.pointer,
  }));
}

function items(value: Json | undefined): readonly (readonly [JsonObject, number])[] {
  if (!Array.isArray(value)) return NONE;
  return value.flatMap((item: Json, at) => (isObject(item) ? [[item, at] as const] : []));
}

/** The kind that a subject such as `team:search` refers to; undefined for people. */
function kindOfSubject(scheme: string): string | undefined {
  const { subjects } = referenceKinds;
  return isSubject(scheme) ? subjects[scheme] : undefined;
}

function isSubject(scheme: string): scheme is keyof typeof referenceKinds.subjects {
  return Object.hasOwn(referenceKinds.subjects, scheme);
}
