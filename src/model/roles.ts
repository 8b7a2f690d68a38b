/** How much a role allows: 1 to read, 2 to write what the resource holds, 3 to change it and who may use it. */
export type AccessLevel = 0 | 1 | 2 | 3;

/** What a role allows on its own resource, and on all that lies below it. */
export type RoleAccess = { readonly here: AccessLevel; readonly below: AccessLevel };

/** A type of resource that roles are given on. */
export type RoleType = {
  readonly roles: { readonly [roleId: string]: RoleAccess };
  /** The type whose resources lie above: their fqn, with a colon, begins the fqn. */
  readonly above?: string;
  /** Whether an fqn may be written as `type:tenant/name` too. */
  readonly hasLongFqn?: true;
};

/** The built-in roles, by the type of the resource that they are given on. */
const roleTypes: { readonly [type: string]: RoleType } = {
  tenant: { roles: { "tenant-admin": { here: 3, below: 3 }, "tenant-member": { here: 1, below: 0 } } },
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
  "secret-group": { roles: { "secret-group-user": { here: 1, below: 0 } } },
};

/** The fqn of a resource that a role or a manifest names, in its short form. */
export function shortFqn(type: string, fqn: string, tenant: string): string {
  const prefix = `${type}:${tenant}/`;
  return roleTypeOf(type)?.hasLongFqn === true && fqn.startsWith(prefix) ? fqn.slice(prefix.length) : fqn;
}

/** What is known of the roles on a type of resource. */
export function roleTypeOf(type: string): RoleType | undefined {
  return Object.hasOwn(roleTypes, type) ? roleTypes[type] : undefined;
}

const none: RoleAccess = { here: 0, below: 0 };

/** What a role allows; nothing when it is not built in. */
export function roleAccess(type: string, roleId: string): RoleAccess | null {
  const roles = roleTypeOf(type)?.roles ?? {};
  return Object.hasOwn(roles, roleId) ? (roles[roleId] ?? none) : null;
}
