/** The access level of a role: 1 to read, 2 to write what the resource contains, 3 to change it and its access. */
export type AccessLevel = 0 | 1 | 2 | 3;

/** A role's access to its own resource, and to the resources below it. */
export type RoleAccess = { readonly here: AccessLevel; readonly below: AccessLevel };

/** A resource type on which roles are granted. */
export type RoleType = {
  readonly roles: { readonly [roleId: string]: RoleAccess };
  /** The type of the parent resource: an fqn starts with the parent's fqn and a colon. */
  readonly above?: string;
  /** Whether an fqn may also be written as `type:tenant/name`. */
  readonly hasLongFqn?: true;
};

/** The built-in roles by resource type. */
const roleTypes: { readonly [type: string]: RoleType } = {
  tenant: {
    roles: {
      "tenant-admin": { here: 3, below: 3 },
      "tenant-viewer": { here: 1, below: 1 },
      "tenant-member": { here: 1, below: 0 },
    },
  },
  cluster: {
    roles: {
      "cluster-admin": { here: 3, below: 3 },
      "cluster-member": { here: 1, below: 1 },
      "cluster-viewer": { here: 1, below: 0 },
    },
  },
  workspace: {
    above: "cluster",
    roles: {
      "workspace-admin": { here: 3, below: 0 },
      "workspace-editor": { here: 2, below: 0 },
      "workspace-member": { here: 2, below: 0 },
      "workspace-viewer": { here: 1, below: 0 },
    },
  },
  "ml-repo": {
    hasLongFqn: true,
    roles: {
      "ml-repo-admin": { here: 3, below: 0 },
      "ml-repo-editor": { here: 2, below: 0 },
      "ml-repo-viewer": { here: 1, below: 0 },
    },
  },
  // Whoever reads the whole tenant may not use its secrets, so use needs more than read access.
  "secret-group": { roles: { "secret-group-user": { here: 2, below: 0 } } },
};

/** The short form of an fqn in a role or a manifest; `tenant` is null while our tenant is unknown. */
export function shortFqn(type: string, fqn: string, tenant: string | null): string {
  if (roleTypeOf(type)?.hasLongFqn !== true) return fqn;
  if (tenant === null) return fqn.slice(fqn.lastIndexOf("/") + 1);
  const prefix = `${type}:${tenant}/`;
  return fqn.startsWith(prefix) ? fqn.slice(prefix.length) : fqn;
}

/** The built-in roles on a type of resource; undefined when it has none. */
export function roleTypeOf(type: string): RoleType | undefined {
  return Object.hasOwn(roleTypes, type) ? roleTypes[type] : undefined;
}

/** A role that somebody holds on a resource. */
export type HeldRole = { readonly resourceType: string; readonly resourceFqn: string; readonly roleId: string };

/** A resource that access is decided on, of a type that roles are granted on. */
export type AccessTarget = { readonly type: string; readonly fqn: string };

const none: RoleAccess = { here: 0, below: 0 };

/** The access of a role; null for a custom role. */
export function roleAccess(type: string, roleId: string): RoleAccess | null {
  const roles = roleTypeOf(type)?.roles ?? {};
  return Object.hasOwn(roles, roleId) ? (roles[roleId] ?? none) : null;
}

/** The least role with a level of access to a type of resource; on the tenant, to everything in it. */
export function leastRole(type: string, level: AccessLevel): string {
  const reach = type === "tenant" ? "below" : "here";
  const roles = Object.entries(roleTypeOf(type)?.roles ?? {}).filter(([, access]) => access[reach] >= level);
  const [least] = roles.toSorted(([, a], [, b]) => a.here - b.here || a.below - b.below);
  return least?.[0] ?? type;
}

/** The access of a held role to a resource; `tenant` is the name of ours. */
export function accessOn(
  { type, fqn }: AccessTarget,
  { resourceType, resourceFqn, roleId }: HeldRole,
  tenant: string,
): RoleAccess {
  const access = roleAccess(resourceType, roleId) ?? none;
  if (resourceType === type) return shortFqn(type, resourceFqn, tenant) === shortFqn(type, fqn, tenant) ? access : none;
  const isBelow =
    resourceType === "tenant"
      ? resourceFqn === tenant
      : roleTypeOf(type)?.above === resourceType && fqn.startsWith(`${resourceFqn}:`);
  return isBelow ? { here: access.below, below: access.below } : none;
}

/** The name of a subject that somebody wrote: e-mails are compared without case. */
export function subjectName(written: string): string {
  // In another form than NFKC, a letter of another alphabet may become one of this in lower case.
  return written.startsWith("user:") && written.normalize("NFKC") === written ? written.toLowerCase() : written;
}
