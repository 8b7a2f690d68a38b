import { type AccessLevel, type RoleAccess, roleAccess, roleTypeOf, shortFqn } from "../../model/roles.ts";
import { type Principal, type Role, tenant } from "./principal.ts";

/** What a principal wants to do: read a resource, write what it contains, or change it and its access. */
export type AccessAction = "read" | "write" | "admin";

/** A resource that access is decided on, of a type that roles are granted on. */
export type AccessTarget = { readonly type: string; readonly fqn: string };

/** The tenant itself, which only tenant administrators may use. */
export const tenantTarget: AccessTarget = { type: "tenant", fqn: tenant };

const none: RoleAccess = { here: 0, below: 0 };
const strengths: { readonly [action in AccessAction]: AccessLevel } = { read: 1, write: 2, admin: 3 };

/** Whether a role of the principal allows the action; denied by default. */
export function isAllowed(principal: Principal, action: AccessAction, target: AccessTarget): boolean {
  if (isTenantAdmin(principal)) return true;
  if (target.type === tenantTarget.type) return false;
  return principal.roles.some((role) => powerOn(target, role).here >= strengths[action]);
}

/** Whether the principal is a tenant administrator, who may do everything. */
export function isTenantAdmin({ roles }: Principal): boolean {
  return roles.some(
    ({ resourceType, resourceFqn, roleId }) =>
      resourceType === tenantTarget.type && resourceFqn === tenant && roleId === "tenant-admin",
  );
}

/** Whether the principal may grant a role: only one that it holds itself. */
export function mayGrant(principal: Principal, { resourceType, resourceFqn, roleId }: Role): boolean {
  if (isTenantAdmin(principal)) return true;
  const wanted = roleAccess(resourceType, roleId);
  // Only tenant administrators may grant custom roles and roles on unknown types.
  if (wanted === null || resourceType === tenantTarget.type) return false;
  const target = { type: resourceType, fqn: shortFqn(resourceType, resourceFqn, tenant) };
  return principal.roles
    .map((held) => powerOn(target, held))
    .some(({ here, below }) => here >= wanted.here && below >= wanted.below);
}

/** The resources of a type on which the principal has a role that allows anything here, or below. */
export function fqnsWithRole({ roles }: Principal, type: string, reach: keyof RoleAccess): readonly string[] {
  return roles
    .filter(({ resourceType, roleId }) => resourceType === type && (roleAccess(type, roleId) ?? none)[reach] > 0)
    .map(({ resourceFqn }) => shortFqn(type, resourceFqn, tenant));
}

/** What a role allows on the target. */
function powerOn({ type, fqn }: AccessTarget, { resourceType, resourceFqn, roleId }: Role): RoleAccess {
  const power = roleAccess(resourceType, roleId) ?? none;
  if (resourceType === type) return shortFqn(type, resourceFqn, tenant) === fqn ? power : none;
  const isBelow = roleTypeOf(type)?.above === resourceType && fqn.startsWith(`${resourceFqn}:`);
  return isBelow ? { here: power.below, below: power.below } : none;
}
