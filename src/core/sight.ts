import { type AccessLevel, accessOn, type HeldRole, leastRole, roleAccess, roleTypeOf } from "../model/roles.ts";
import type { Access } from "./access.ts";
import { type Kinds, kindIn, parentOf } from "./kind.ts";
import { exists, type LiveView } from "./live.ts";
import { type Identity, splitIdentity } from "./manifest.ts";

/** What a token may see: all its roles, and the tenant; null where they are not known. */
export type Sight = { readonly roles: readonly HeldRole[]; readonly tenant: string } | null;

/** What a token may see, from its roles. The permissions of a custom role on the tenant are not known here. */
export function sightOf(access: Access | null): Sight {
  if (access === null) return null;
  const roles = access.roles.map(({ role_id: roleId, resource_type: resourceType, resource_fqn: resourceFqn }) => {
    return { roleId, resourceType, resourceFqn };
  });
  const isOpen = roles.some(
    ({ resourceType, roleId }) => resourceType === TENANT && roleAccess(TENANT, roleId) === null,
  );
  return isOpen ? null : { roles, tenant: access.tenant };
}

const TENANT = "tenant";

/** Whether the token's roles show everything in the tenant. */
export function showsTenant(sight: Sight): boolean {
  if (sight === null) return false;
  return sight.roles.some((role) => accessOn({ type: TENANT, fqn: sight.tenant }, role, sight.tenant).below > 0);
}

/** What may exist and is not visible to a token, in words; null where it sees everything. */
export function unseenBy(access: Access | null): string | null {
  if (access === null) return "what the token may not see: this control plane does not tell its roles";
  const sight = sightOf(access);
  if (showsTenant(sight)) return null;
  return `what the roles of ${access.subject} do not show (${tenantRole(sight)} would show everything)`;
}

/** Whether the token's roles show a resource if it exists. */
export function isShown(sight: Sight, identity: Identity, kinds: Kinds): boolean {
  if (sight === null) return false;
  const place = placeOf(identity, kinds);
  if (place === null) return showsTenant(sight);
  return sight.roles.some((role) => accessOn(place, role, sight.tenant).here > 0);
}

/** What is seen of a control plane, and by whom. */
export type Seen = LiveView & { readonly sight: Sight; readonly kinds: Kinds };

/** The least role that shows a resource, and where, such as `workspace-viewer on workspace dev:web`. */
export function roleThatShows(seen: Seen, identity: Identity): string {
  const place = placeOf(identity, seen.kinds);
  if (place === null) return tenantRole(seen.sight);
  // What is not visible in something visible shows only in a dry run, which needs the right to write.
  const isReadByDryRun = !hasOwnRoles(identity) && exists(seen, `${place.type}/${place.fqn}`);
  return `${leastRole(place.type, isReadByDryRun ? 2 : 1)} on ${place.type} ${place.fqn}`;
}

/** The role that shows everything in the tenant. */
export function tenantRole(sight: Sight): string {
  const where = sight === null ? "the tenant" : `tenant ${sight.tenant}`;
  return `${leastRole(TENANT, 1)} on ${where}`;
}

/** Whether the token's roles allow writing a resource; true where that is not known. */
export function mayWrite(sight: Sight, identity: Identity, kinds: Kinds): boolean {
  // What a custom role allows is not known here.
  if (sight === null || sight.roles.some(({ resourceType, roleId }) => roleAccess(resourceType, roleId) === null))
    return true;
  const place = placeOf(identity, kinds) ?? { type: TENANT, fqn: sight.tenant };
  return sight.roles.some((role) => accessOn(place, role, sight.tenant).here >= levelToWrite(identity, kinds));
}

/** The role that a token lacks where a control plane forbids it to write a resource; null where its roles suffice. */
export function missingRoleToWrite(access: Access | null, identity: Identity, kinds: Kinds): string | null {
  if (access !== null && mayWrite(sightOf(access), identity, kinds)) return null;
  // The tenant is not known without the caller.
  if (access === null && placeOf(identity, kinds) === null) return null;
  return roleThatWrites(access?.tenant ?? "", identity, kinds);
}

/** The least role that may write a resource, and where, such as `workspace-editor on workspace dev:web`. */
export function roleThatWrites(tenant: string, identity: Identity, kinds: Kinds): string {
  const place = placeOf(identity, kinds) ?? { type: TENANT, fqn: tenant };
  return `${leastRole(place.type, levelToWrite(identity, kinds))} on ${place.type} ${place.fqn}`;
}

// What has roles of its own, or lies in the tenant alone, is changed by its administrators; the rest by who may write there.
function levelToWrite(identity: Identity, kinds: Kinds): AccessLevel {
  return hasOwnRoles(identity) || placeOf(identity, kinds) === null ? 3 : 2;
}

/** Whether roles are granted on resources of this kind; others are visible with the resource that contains them. */
export function hasOwnRoles(identity: Identity): boolean {
  return roleTypeOf(splitIdentity(identity).kind) !== undefined;
}

/** The resource whose roles show this one: itself or what contains it; null where only roles on the tenant do. */
function placeOf(identity: Identity, kinds: Kinds): { readonly type: string; readonly fqn: string } | null {
  const { kind: type, key: fqn } = splitIdentity(identity);
  if (kindIn(kinds, identity)?.isShownByTenant) return null;
  if (hasOwnRoles(identity)) return { type, fqn };
  const parent = parentOf(identity, kinds);
  return parent === null ? null : placeOf(parent, kinds);
}
