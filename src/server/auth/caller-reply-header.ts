import { type Principal, tenant } from "./principal.ts";

const MAX_ROLES = 8;
const headers = new WeakMap<Principal, string>();

/** The caller and its first roles as JSON in ASCII; list replies carry it, so that a client knows whose token it uses. */
export function callerReplyHeader(principal: Principal): string {
  const known = headers.get(principal);
  if (known !== undefined) return known;
  const roles = principal.roles.slice(0, MAX_ROLES).map(({ roleId: role_id, resourceType, resourceFqn }) => ({
    role_id,
    resource_type: resourceType,
    resource_fqn: resourceFqn,
  }));
  const caller = { tenant, subject: principal.name, roles, more_roles: principal.roles.length - roles.length };
  const header = JSON.stringify(caller).replace(/[^\x20-\x7e]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
  headers.set(principal, header);
  return header;
}
