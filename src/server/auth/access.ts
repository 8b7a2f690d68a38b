// src/server/auth: who calls, and what the caller may do. See docs/control-plane.md#roles.

import {
  type AccessLevel,
  type AccessTarget,
  accessOn,
  type RoleAccess,
  roleAccess,
  shortFqn,
} from "../../model/roles.ts";
import { type Principal, type Role, tenant, tenantAdmin } from "./principal.ts";

export type { AccessTarget } from "../../model/roles.ts";

/** What a principal wants to do: read a resource, write what it contains, or change it and its access. */
export type AccessAction = "read" | "write" | "admin";

/** The tenant itself, which only tenant administrators may use. */
export const tenantTarget: AccessTarget = { type: "tenant", fqn: tenant };

const none: RoleAccess = { here: 0, below: 0 };
const strengths: { readonly [action in AccessAction]: AccessLevel } = { read: 1, write: 2, admin: 3 };

/** Whether a role of the principal allows the action; denied by default. */
export function isAllowed({ roles }: Principal, action: AccessAction, target: AccessTarget): boolean {
  return roles.some((role) => accessOn(target, role, tenant).here >= strengths[action]);
}

/** Whether the principal is a tenant administrator, who may do everything. */
export function isTenantAdmin(principal: Principal): boolean {
  return isAllowed(principal, "admin", tenantTarget);
}

/** Whether the principal may read everything in the tenant but secret values and tokens. */
export function readsTenant({ roles }: Principal): boolean {
  return roles.some((role) => accessOn(tenantTarget, role, tenant).below > 0);
}

/**
 * The principal of a dry run. Whoever reads the whole tenant may dry-run every write: it writes nothing, and shows nothing
 * that the principal could not read.
 */
export function dryRunPrincipal(principal: Principal): Principal {
  return readsTenant(principal) ? { ...principal, roles: [...principal.roles, tenantAdmin] } : principal;
}

/** Whether the principal may grant a role: only one that it holds itself. */
export function mayGrant(principal: Principal, { resourceType, resourceFqn, roleId }: Role): boolean {
  if (isTenantAdmin(principal)) return true;
  const wanted = roleAccess(resourceType, roleId);
  // Only tenant administrators may grant custom roles and roles on unknown types.
  if (wanted === null || resourceType === tenantTarget.type) return false;
  return principal.roles
    .map((held) => accessOn({ type: resourceType, fqn: resourceFqn }, held, tenant))
    .some(({ here, below }) => here >= wanted.here && below >= wanted.below);
}

/** The resources of a type on which the principal has a role that allows anything here, or below. */
export function fqnsWithRole({ roles }: Principal, type: string, reach: keyof RoleAccess): readonly string[] {
  return roles
    .filter(({ resourceType, roleId }) => resourceType === type && (roleAccess(type, roleId) ?? none)[reach] > 0)
    .map(({ resourceFqn }) => shortFqn(type, resourceFqn, tenant));
}
