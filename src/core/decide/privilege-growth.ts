import { isObject, type Json, type JsonObject } from "../../contract/json.ts";
import { roleAccess, roleTypeOf } from "../../model/roles.ts";

/** A right that a manifest grants: the holder (empty for the resource itself), the scope and the role. */
type Privilege = { readonly holder: string; readonly type: string; readonly fqn: string; readonly role: string };

/** The roles within a team: a manager is at least a member. */
const MEMBERSHIP = "membership";
const SSO_FIELDS = ["sso_name", "group_name"] as const;

/** Whether a manifest grants a right that the previous one did not. */
export function growsPrivileges(before: JsonObject, after: JsonObject): boolean {
  const wanted = privilegesOf(after);
  if (wanted.length === 0) return false;
  const held = privilegesOf(before);
  return wanted.some((one) => !held.some((other) => covers(other, one)));
}

function privilegesOf(manifest: JsonObject): readonly Privilege[] {
  return [
    ...objects(manifest.collaborators).map(({ subject, role_id }) =>
      privilege({ holder: subject, type: manifest.type, fqn: "", role: role_id }),
    ),
    ...objects(manifest.permissions).map(({ resource_type, resource_fqn, role_id }) =>
      privilege({ holder: "", type: resource_type, fqn: resource_fqn, role: role_id }),
    ),
    ...texts(manifest.managers).map((holder) => privilege({ holder, type: MEMBERSHIP, role: "manager" })),
    ...texts(manifest.members).map((holder) => privilege({ holder, type: MEMBERSHIP, role: "member" })),
    // All users in the identity provider's group become members.
    ...SSO_FIELDS.flatMap((field) =>
      typeof manifest[field] === "string"
        ? [privilege({ holder: `${field}:${manifest[field]}`, type: MEMBERSHIP })]
        : [],
    ),
  ];
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

function objects(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.flatMap((item: Json) => (isObject(item) ? [item] : [])) : [];
}

function texts(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.flatMap((item: Json) => (typeof item === "string" ? [item] : [])) : [];
}
