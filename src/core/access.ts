import type { Access } from "../contract/generated/output.ts";
import { isObject, parseJsonOrNull, text } from "../contract/json.ts";
import { roleAccess } from "../model/roles.ts";

export type { Access } from "../contract/generated/output.ts";

/** Whether the token can read the whole tenant, so that a resource missing from a list does not exist. */
export function readsWholeTenant(access: Access | null): boolean {
  if (access === null) return false;
  return access.roles.some(
    (role) => role.resource_type === "tenant" && (roleAccess("tenant", role.role_id)?.below ?? 0) > 0,
  );
}

/**
 * Whether the token is known to see only a part of the tenant, so that a resource missing from a list may exist. The
 * permissions of a custom role are not known here.
 */
export function readsPartOfTenant(access: Access | null): boolean {
  if (access === null || access.more_roles > 0 || readsWholeTenant(access)) return false;
  return access.roles.every(({ resource_type, role_id }) => roleAccess(resource_type, role_id) !== null);
}

/** Parses the control plane's caller header: the token's subject and roles. Null when it is missing or malformed. */
export function readAccess(header: string | undefined): Access | null {
  const access = parseJsonOrNull(header ?? "");
  if (!isObject(access)) return null;
  const [tenant, subject] = [text(access.tenant), text(access.subject)];
  if (tenant === undefined || subject === undefined || !Array.isArray(access.roles)) return null;
  const roles = access.roles.filter(isObject).map((role) => ({
    role_id: text(role.role_id) ?? "",
    resource_type: text(role.resource_type) ?? "",
    resource_fqn: text(role.resource_fqn) ?? "",
  }));
  return { tenant, subject, roles, more_roles: typeof access.more_roles === "number" ? access.more_roles : 0 };
}
