import { type Principal, type Role, tenant } from "./principal.ts";

/** What somebody wants of a resource: see it, write what it holds, or change it and who may use it. */
export type Action = "read" | "write" | "admin";

/** What access is decided on. */
export type Target =
  | { readonly type: "tenant" }
  | { readonly type: "cluster"; readonly fqn: string }
  | { readonly type: "workspace"; readonly fqn: string }
  | { readonly type: "ml-repo"; readonly name: string }
  /** Who may read a secret group may name its secrets in manifests; their values are the tenant administrator's. */
  | { readonly type: "secret-group"; readonly fqn: string }
  | { readonly type: "virtual-account"; readonly name: string };

/** What a role allows on its own resource, and on all that lies below it. */
type Power = { readonly here: Strength; readonly below: Strength };
type Strength = 0 | 1 | 2 | 3;

const none: Power = { here: 0, below: 0 };
const strengths: { readonly [action in Action]: Strength } = { read: 1, write: 2, admin: 3 };

const powers: ReadonlyMap<string, Power> = new Map([
  ["tenant/tenant-admin", { here: 3, below: 3 }],
  ["tenant/tenant-member", { here: 1, below: 0 }],
  ["cluster/cluster-admin", { here: 3, below: 3 }],
  ["cluster/cluster-member", { here: 1, below: 1 }],
  ["cluster/cluster-viewer", { here: 1, below: 0 }],
  ["workspace/workspace-admin", { here: 3, below: 0 }],
  ["workspace/workspace-editor", { here: 2, below: 0 }],
  ["workspace/workspace-member", { here: 2, below: 0 }],
  ["workspace/workspace-viewer", { here: 1, below: 0 }],
  ["ml-repo/ml-repo-admin", { here: 3, below: 0 }],
  ["ml-repo/ml-repo-editor", { here: 2, below: 0 }],
  ["ml-repo/ml-repo-viewer", { here: 1, below: 0 }],
  ["secret-group/secret-group-user", { here: 1, below: 0 }],
]);

/** Whether the principal may do that; whatever no role allows is refused. */
export function may(principal: Principal, action: Action, target: Target): boolean {
  if (isTenantAdmin(principal)) return true;
  switch (target.type) {
    case "tenant":
      return false;
    case "virtual-account":
      return action === "read" && principal.name === `virtualaccount:${target.name}`;
    case "cluster":
    case "workspace":
    case "ml-repo":
    case "secret-group":
      return principal.roles.some((role) => powerOn(target, role).here >= strengths[action]);
  }
}

/** Whether the principal holds the right to everything. */
export function isTenantAdmin({ roles }: Principal): boolean {
  return roles.some(
    ({ resourceType, resourceFqn, roleId }) =>
      resourceType === "tenant" && resourceFqn === tenant && roleId === "tenant-admin",
  );
}

/** Whether the principal may hand a role out: nobody can grant what it does not hold. */
export function mayGrant(principal: Principal, role: Role): boolean {
  if (isTenantAdmin(principal)) return true;
  const wanted = powers.get(`${role.resourceType}/${role.roleId}`);
  const target = targetOf(role);
  // Custom roles, and types that we do not know, are the tenant administrator's alone to give.
  if (wanted === undefined || target === null) return false;
  return principal.roles
    .map((held) => powerOn(target, held))
    .some(({ here, below }) => here >= wanted.here && below >= wanted.below);
}

/** The clusters that a principal may see; null when it is all of them. */
export function visibleClusters(principal: Principal): readonly string[] | null {
  return isTenantAdmin(principal) ? null : fqnsOf(principal, "cluster", "here");
}

/** The workspaces that a principal may see: those named, and all on the clusters named; null when it is all of them. */
export function visibleWorkspaces(
  principal: Principal,
): { readonly fqns: readonly string[]; readonly clusters: readonly string[] } | null {
  if (isTenantAdmin(principal)) return null;
  return { fqns: fqnsOf(principal, "workspace", "here"), clusters: fqnsOf(principal, "cluster", "below") };
}

/** The names of the ml repos that a principal may see; null when it is all of them. */
export function visibleRepos(principal: Principal): readonly string[] | null {
  return isTenantAdmin(principal) ? null : fqnsOf(principal, "ml-repo", "here").map(repoName);
}

/** The name of the repo that a role names, by its name or by its fqn. */
export function repoName(fqn: string): string {
  const prefix = `ml-repo:${tenant}/`;
  return fqn.startsWith(prefix) ? fqn.slice(prefix.length) : fqn;
}

/** What a role that somebody holds allows on the target. */
function powerOn(target: Target, { resourceType, resourceFqn, roleId }: Role): Power {
  const power = powers.get(`${resourceType}/${roleId}`) ?? none;
  if (resourceType === "cluster" && target.type === "workspace") {
    const isBelow = target.fqn.startsWith(`${resourceFqn}:`);
    return isBelow ? { here: power.below, below: power.below } : none;
  }
  if (resourceType !== target.type) return none;
  return (resourceType === "ml-repo" ? repoName(resourceFqn) : resourceFqn) === keyOf(target) ? power : none;
}

function keyOf(target: Target): string | null {
  switch (target.type) {
    case "cluster":
    case "workspace":
    case "secret-group":
      return target.fqn;
    case "ml-repo":
      return target.name;
    default:
      return null;
  }
}

function targetOf({ resourceType, resourceFqn }: Role): Target | null {
  switch (resourceType) {
    case "cluster":
    case "workspace":
    case "secret-group":
      return { type: resourceType, fqn: resourceFqn };
    case "ml-repo":
      return { type: resourceType, name: repoName(resourceFqn) };
    default:
      return null;
  }
}

function fqnsOf({ roles }: Principal, type: string, reach: keyof Power): readonly string[] {
  return roles
    .filter(({ resourceType, roleId }) => resourceType === type && (powers.get(`${type}/${roleId}`) ?? none)[reach] > 0)
    .map(({ resourceFqn }) => resourceFqn);
}
