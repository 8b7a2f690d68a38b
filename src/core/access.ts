import type { Access } from "../contract/generated/output.ts";
import { isObject, type Json, text } from "../contract/json.ts";
import { roleAccess } from "../model/roles.ts";

export type { Access } from "../contract/generated/output.ts";

/** Whether a role of a token lets it read all that the tenant holds, so that what no list shows is not there. */
export function readsWholeTenant(access: Access | null): boolean {
  if (access === null) return false;
  return access.roles.some(
    (role) => role.resource_type === "tenant" && (roleAccess("tenant", role.role_id)?.below ?? 0) > 0,
  );
}

/**
 * Whether a token is known to see a part of the tenant at most, so that what no list shows may be there. Nobody here knows
 * what a role allows that is not built in.
 */
export function readsPartOfTenant(access: Access | null): boolean {
  if (access === null || access.more_roles > 0 || readsWholeTenant(access)) return false;
  return access.roles.every(({ resource_type, role_id }) => roleAccess(resource_type, role_id) !== null);
}

/** Reads who a token is and what it may do from what the control plane tells of its caller; null where it does not. */
export function readAccess(header: string | undefined): Access | null {
  const told = parsed(header);
  if (!isObject(told)) return null;
  const [tenant, subject] = [text(told.tenant), text(told.subject)];
  if (tenant === undefined || subject === undefined || !Array.isArray(told.roles)) return null;
  const roles = told.roles.filter(isObject).map((role) => ({
    role_id: text(role.role_id) ?? "",
    resource_type: text(role.resource_type) ?? "",
    resource_fqn: text(role.resource_fqn) ?? "",
  }));
  return { tenant, subject, roles, more_roles: typeof told.more_roles === "number" ? told.more_roles : 0 };
}

function parsed(header: string | undefined): Json {
  try {
    return JSON.parse(header ?? "null");
  } catch {
    return null;
  }
}
