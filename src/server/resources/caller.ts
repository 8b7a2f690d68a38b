// src/server/resources: one file or folder for each resource. See docs/architecture.md#a-new-resource-of-the-control-plane.

import type { Caller } from "../../contract/generated/resources.ts";
import { canonical, compareText } from "../../contract/json.ts";
import { rolesOf } from "../auth/grants.ts";
import { type Principal, tenant } from "../auth/principal.ts";
import type { Context } from "../context.ts";
import { toText } from "../database/json-text.ts";
import { defineOperation } from "../http/define-operation.ts";
import type { Handler } from "../http/operation-call.ts";
import type { ResourceDefinition } from "../resource.ts";
import { groupsOfTeams } from "./team/members.ts";
import { endOfDay } from "./virtual-account/expiry.ts";
import { accountsSection } from "./virtual-account/resource.ts";

const getCaller: Handler<"getCaller"> = async ({ principal }, context) => ({
  data: toText(await callerOf(principal, context)),
});

/** Whose token a request carries, and all roles that it has. */
export async function callerOf(principal: Principal, context: Context): Promise<Caller> {
  const { name: subject } = principal;
  const { subjectId } = principal.subject;
  const [roles, end] = await Promise.all([rolesWithOrigin(principal, context), endOf(principal, context)]);
  const expiry = end === null ? {} : { tokenExpiresAt: new Date(end).toISOString() };
  return { subject, subjectId, tenantName: tenant, roles, ...expiry };
}

/** The operation on the caller itself: E14. */
export const resource: ResourceDefinition = {
  section: accountsSection,
  operations: [
    defineOperation("getCaller", getCaller, {
      // Everyone may know its own roles.
      refuses: { never: [403, 404] },
      description:
        "Returns whose token the request carries, and all roles that it has, by name or through a team. Every caller may ask.",
      replySchema: "Caller",
    }),
  ],
};

async function rolesWithOrigin(
  { name, subject: { subjectSlug } }: Principal,
  { store }: Context,
): Promise<Caller["roles"]> {
  const [grants, groups] = await Promise.all([
    rolesOf(store.read, name, subjectSlug),
    groupsOfTeams(store.read, subjectSlug),
  ]);
  const roles = grants.map(({ subject, roleId: role, resourceType, resourceFqn }) => {
    const group = groups.get(subject);
    const origin = { ...(subject !== name && { through: subject }), ...(group !== undefined && { group }) };
    return { role, resourceType, resourceFqn, ...origin };
  });
  // The same role may come from several manifests.
  const distinct = new Map(roles.map((role) => [canonical(role), role]));
  return [...distinct].toSorted(([a], [b]) => compareText(a, b)).map(([, role]) => role);
}

// A user's token here has no end, one of an issuer names its own; an account's ends with the account, or with the token itself after a rotation.
async function endOf({ subject: { subjectId }, credential }: Principal, { store }: Context): Promise<number | null> {
  if (credential?.endsAt !== undefined) return credential.endsAt;
  const row = await store.read
    .selectFrom("jwts as j")
    .innerJoin("virtual_accounts as a", "a.id", "j.account_id")
    .select(["j.valid_until", "a.expires_on"])
    .where("j.id", "=", credential?.root ?? "")
    .where("a.id", "=", subjectId)
    .executeTakeFirst();
  const ends = [row?.valid_until, endOfDay(row?.expires_on)].flatMap((end) => (end ? [Number(end)] : []));
  return ends.length === 0 ? null : Math.min(...ends);
}
