import { type AccessLevel, type RoleAccess, roleAccess, roleTypeOf, shortFqn } from "../../model/roles.ts";
import { type Principal, type Role, tenant } from "./principal.ts";

/** What somebody wants of a resource: see it, write what it holds, or change it and who may use it. */
export type AccessAction = "read" | "write" | "admin";

/** What access is decided on: a resource of a type that roles are given on. */
export type AccessTarget = { readonly type: string; readonly fqn: string };

/** The tenant, which is the tenant administrator's. */
export const tenantTarget: AccessTarget = { type: "tenant", fqn: tenant };

const none: RoleAccess = { here: 0, below: 0 };
const strengths: { readonly [action in AccessAction]: AccessLevel } = { read: 1, write: 2, admin: 3 };

/** Whether the principal may do that; whatever no role allows is refused. */
export function isAllowed(principal: Principal, action: AccessAction, target: AccessTarget): boolean {
  if (isTenantAdmin(principal)) return true;
  if (target.type === tenantTarget.type) return false;
  return principal.roles.some((role) => powerOn(target, role).here >= strengths[action]);
}

/** Whether the principal holds the right to everything. */
export function isTenantAdmin({ roles }: Principal): boolean {
  return roles.some(
    ({ resourceType, resourceFqn, roleId }) =>
      resourceType === tenantTarget.type && resourceFqn === tenant && roleId === "tenant-admin",
  );
}

/** Whether the principal may hand a role out: nobody can grant what it does not hold. */
export function mayGrant(principal: Principal, { resourceType, resourceFqn, roleId }: Role): boolean {
  if (isTenantAdmin(principal)) return true;
  const wanted = roleAccess(resourceType, roleId);
  // Custom roles, and types that we do not know, are the tenant administrator's alone to give.
  if (wanted === null || resourceType === tenantTarget.type) return false;
  const target = { type: resourceType, fqn: shortFqn(resourceType, resourceFqn, tenant) };
  return principal.roles
    .map((held) => powerOn(target, held))
    .some(({ here, below }) => here >= wanted.here && below >= wanted.below);
}

/** The resources of a type on which somebody holds a role that allows something there, or on what lies below. */
export function fqnsWithRole({ roles }: Principal, type: string, reach: keyof RoleAccess): readonly string[] {
  return roles
    .filter(({ resourceType, roleId }) => resourceType === type && (roleAccess(type, roleId) ?? none)[reach] > 0)
    .map(({ resourceFqn }) => shortFqn(type, resourceFqn, tenant));
}

/** What a role that somebody holds allows on the target. */
function powerOn({ type, fqn }: AccessTarget, { resourceType, resourceFqn, roleId }: Role): RoleAccess {
  const power = roleAccess(resourceType, roleId) ?? none;
  if (resourceType === type) return shortFqn(type, resourceFqn, tenant) === fqn ? power : none;
  const isBelow = roleTypeOf(type)?.above === resourceType && fqn.startsWith(`${resourceFqn}:`);
  return isBelow ? { here: power.below, below: power.below } : none;
}
