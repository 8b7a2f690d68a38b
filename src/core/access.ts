// src/core: decisions without input or output, and the types that they share. See docs/architecture.md#what-is-desired-live-and-recorded.

import type { Access, AccessRole } from "../contract/generated/output.ts";
import { isObject, text } from "../contract/json.ts";

export type { Access } from "../contract/generated/output.ts";

/** The subject and all roles of a token, from the control plane's own words; null where they are incomplete. */
export function readAccess(caller: unknown): Access | null {
  if (!isObject(caller) || !Array.isArray(caller.roles)) return null;
  const [tenant, subject] = [text(caller.tenantName), text(caller.subject)];
  if (tenant === undefined || subject === undefined) return null;
  const roles = caller.roles.flatMap((role) => readRole(role) ?? []);
  // A reply that names only some of the roles is as good as none.
  return roles.length === caller.roles.length ? { tenant, subject, roles, more_roles: 0 } : null;
}

function readRole(given: unknown): AccessRole | null {
  if (!isObject(given)) return null;
  const [role_id, resource_type, resource_fqn] = [text(given.role), text(given.resourceType), text(given.resourceFqn)];
  if (role_id === undefined || resource_type === undefined || resource_fqn === undefined) return null;
  return { role_id, resource_type, resource_fqn };
}
