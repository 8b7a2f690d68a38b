import type { Kysely, Transaction } from "kysely";
import { isObject, type Json, type JsonObject } from "../../contract/json.ts";
import { forbidden } from "../../http/http-error.ts";
import { subjectName } from "../../model/roles.ts";
import { chunks, preparedQuery } from "../../store/prepared-query.ts";
import type { Tables } from "../database/tables.ts";
import { everyoneSubject, teamSubjects } from "../resources/team/members.ts";
import { mayGrant } from "./access.ts";
import type { Principal, Role } from "./principal.ts";

/** A role that a manifest grants to a subject. */
export type Grant = Role & { readonly subject: string };

/** The roles that a resource's `collaborators` have on it. */
export function collaboratorGrants(
  resource: { readonly type: string; readonly fqn: string },
  manifest: JsonObject,
): readonly Grant[] {
  return objects(manifest.collaborators).flatMap(({ subject, role_id: roleId }) =>
    typeof subject === "string" && typeof roleId === "string"
      ? [{ subject: subjectName(subject), resourceType: resource.type, resourceFqn: resource.fqn, roleId }]
      : [],
  );
}

/** The roles that `permissions` grant to the manifest's own subject. */
export function permissionGrants(subject: string, manifest: JsonObject): readonly Grant[] {
  return objects(manifest.permissions).flatMap((permission) => {
    const { resource_type: resourceType, resource_fqn: resourceFqn, role_id: roleId } = permission;
    if (typeof resourceType !== "string" || typeof resourceFqn !== "string" || typeof roleId !== "string") return [];
    return [{ subject, resourceType, resourceFqn, roleId }];
  });
}

/** Refuses (403) when the principal may not grant one of the added roles. */
export function authoriseGrants(principal: Principal, wanted: readonly Grant[], existing: readonly Grant[]): void {
  const unchanged = new Set(existing.map(grantKey));
  const refused = wanted.find((grant) => !unchanged.has(grantKey(grant)) && !mayGrant(principal, grant));
  if (refused === undefined) return;
  throw forbidden(`you cannot grant the role ${refused.roleId} on ${refused.resourceType} ${refused.resourceFqn}`);
}

/** Replaces the grants of a source. */
export async function replaceGrants(
  transaction: Transaction<Tables>,
  source: string,
  grants: readonly Grant[],
): Promise<void> {
  await transaction.deleteFrom("grants").where("source", "=", source).execute();
  const rows = new Map(grants.map((grant) => [grantKey(grant), row(source, grant)]));
  for (const part of chunks([...rows.values()], 100)) await transaction.insertInto("grants").values(part).execute();
}

const roleRows = preparedQuery(
  (database: Kysely<Tables>, { name, slug }: { readonly name: string; readonly slug: string }) =>
    database
      .selectFrom("grants")
      .select(["subject", "resource_type", "resource_fqn", "role_id"])
      .where(({ or, eb }) =>
        or([eb("subject", "in", [name, everyoneSubject]), eb("subject", "in", teamSubjects(database, slug))]),
      ),
);

/** All roles of a subject: those granted by name, to everyone, and to its teams; each grant names whom it was made to. */
export async function rolesOf(database: Kysely<Tables>, name: string, slug: string): Promise<readonly Grant[]> {
  const rows = await roleRows(database, { name, slug });
  return rows.map((role) => ({
    subject: role.subject,
    resourceType: role.resource_type,
    resourceFqn: role.resource_fqn,
    roleId: role.role_id,
  }));
}

function row(source: string, { subject, resourceType, resourceFqn, roleId }: Grant) {
  return { source, subject, resource_type: resourceType, resource_fqn: resourceFqn, role_id: roleId };
}

function grantKey({ subject, resourceType, resourceFqn, roleId }: Grant): string {
  return JSON.stringify([subject, resourceType, resourceFqn, roleId]);
}

function objects(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
