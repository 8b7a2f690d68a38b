import { isObject, type Json, type JsonObject } from "../../contract/json.ts";
import { roleAccess, roleTypeOf } from "../../model/roles.ts";

/** A right that a manifest grants: the holder (empty for the resource itself), the scope and the role. */
type Privilege = { readonly holder: string; readonly type: string; readonly fqn: string; readonly role: string };

/** A privilege, the field of the manifest that grants it, and what it is in words. */
type Grant = { readonly privilege: Privilege; readonly path: string; readonly text: string };

/** The roles within a team: a manager is at least a member. */
const MEMBERSHIP = "membership";
const SSO_FIELDS = ["sso_name", "group_name"] as const;

/** The rights that a manifest grants and the previous one did not. */
export function privilegesBeyond(before: JsonObject, after: JsonObject): readonly Grant[] {
  const wanted = privilegesIn(after);
  if (wanted.length === 0) return [];
  const held = privilegesIn(before);
  return wanted.filter(({ privilege: one }) => !held.some(({ privilege: other }) => covers(other, one)));
}

/** Every right that a manifest grants. */
export function privilegesIn(manifest: JsonObject): readonly Grant[] {
  return [
    ...objects(manifest.collaborators).map(({ at, item: { subject, role_id } }) => ({
      privilege: privilege({ holder: subject, type: manifest.type, fqn: "", role: role_id }),
      path: `/collaborators/${at}`,
      text: `${subject} gets ${role_id}`,
    })),
    ...objects(manifest.permissions).map(({ at, item: { resource_type: type, resource_fqn: fqn, role_id: role } }) => ({
      privilege: privilege({ holder: "", type, fqn, role }),
      path: `/permissions/${at}`,
      text: `it gets ${role} on ${type} ${fqn}`,
    })),
    ...texts(manifest.managers).map(({ at, item }) => membership(item, `/managers/${at}`, "manager")),
    ...texts(manifest.members).map(({ at, item }) => membership(item, `/members/${at}`, "member")),
    // All users in the identity provider's group become members.
    ...SSO_FIELDS.flatMap((field) =>
      typeof manifest[field] === "string"
        ? [
            {
              privilege: privilege({ holder: `${field}:${manifest[field]}`, type: MEMBERSHIP }),
              path: `/${field}`,
              text: `everyone in ${manifest[field]} becomes a member`,
            },
          ]
        : [],
    ),
  ];
}

function membership(holder: string, path: string, role: "manager" | "member"): Grant {
  return { privilege: privilege({ holder, type: MEMBERSHIP, role }), path, text: `${holder} becomes a ${role}` };
}

function privilege({ holder, type, fqn, role }: { readonly [name in keyof Privilege]?: Json | undefined }): Privilege {
  return { holder: String(holder), type: String(type), fqn: String(fqn ?? ""), role: String(role ?? "") };
}

function covers(held: Privilege, wanted: Privilege): boolean {
  if (held.holder !== wanted.holder) return false;
  const isSame = held.type === wanted.type && held.fqn === wanted.fqn;
  if (isSame && (held.role === wanted.role || (held.type === MEMBERSHIP && held.role === "manager"))) return true;
  const [has, wants] = [roleAccess(held.type, held.role), roleAccess(wanted.type, wanted.role)];
  // The permissions of a custom role are unknown.
  if (has === null || wants === null) return false;
  if (isSame) return has.here >= wants.here && has.below >= wants.below;
  return isAbove(held, wanted) && has.below >= wants.here && has.below >= wants.below;
}

function isAbove(held: Privilege, wanted: Privilege): boolean {
  if (held.type === "tenant") return wanted.type !== "tenant";
  return roleTypeOf(wanted.type)?.above === held.type && wanted.fqn.startsWith(`${held.fqn}:`);
}

type Placed<Item> = { readonly at: number; readonly item: Item };

function objects(value: Json | undefined): readonly Placed<JsonObject>[] {
  return Array.isArray(value) ? value.flatMap((item: Json, at) => (isObject(item) ? [{ at, item }] : [])) : [];
}

function texts(value: Json | undefined): readonly Placed<string>[] {
  return Array.isArray(value)
    ? value.flatMap((item: Json, at) => (typeof item === "string" ? [{ at, item }] : []))
    : [];
}
