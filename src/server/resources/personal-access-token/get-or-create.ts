import type { Kysely } from "kysely";
import { badRequest } from "../../../http/http-error.ts";
import { tokenHash } from "../../auth/authenticate.ts";
import { requireEnabled } from "../../auth/disabled-subjects.ts";
import { type Principal, tenant } from "../../auth/principal.ts";
import { type Context, timestamp } from "../../context.ts";
import { recordEffect } from "../../database/audit.ts";
import { type JsonText, toText, withMember } from "../../database/json-text.ts";
import type { Tables } from "../../database/tables.ts";
import type { Handler } from "../../http/operation-call.ts";
import type { AccountRow } from "../virtual-account/account.ts";
import { createPersonalToken, validTokens } from "./rows.ts";

/** Returns the caller's token of a name, and creates it when there is none. */
export const getPersonalAccessToken: Handler<"getPersonalAccessToken"> = async (
  { principal, path: { name } },
  context,
) => {
  if (!/^[A-Za-z0-9._-]{1,64}$/.test(name)) throw badRequest("the name is 1 to 64 letters, digits, `-`, `_` or `.`");
  const existing = await findToken(context.store.read, principal, name, context);
  if (existing !== null) return { data: answer(existing), beside: { created: false } };
  return context.store.write(async (transaction) => {
    const meanwhile = await findToken(transaction, principal, name, context);
    if (meanwhile !== null) return { data: answer(meanwhile), beside: { created: false } };
    await requireEnabled(transaction, principal.name);
    // An invalid token of the same name is replaced.
    const { subjectId: owner_id, subjectType: owner_type } = principal.subject;
    await transaction
      .deleteFrom("personal_tokens")
      .where("owner_type", "=", owner_type)
      .where("owner_id", "=", owner_id)
      .where("name", "=", name)
      .execute();
    const token = createPersonalToken();
    const resource = newToken(principal, name, context);
    const text = toText(resource);
    await transaction
      .insertInto("personal_tokens")
      .values({
        id: resource.id,
        created_at: resource.createdAt,
        json: text,
        hash: tokenHash(token),
        owner_type,
        owner_id,
        name,
        credential: principal.credential?.root ?? null,
        made_with: principal.credential?.name ?? null,
        last_used_at: null,
      })
      .execute();
    await recordEffect(transaction, context, {
      principal,
      operation: "getPersonalAccessToken",
      resource: `personal-access-token/${principal.name}/${name}`,
    });
    return { data: answer(text), beside: { token, created: true } };
  });
};

// Names are separate for each owner.
async function findToken(
  database: Kysely<Tables>,
  { subject }: Principal,
  name: string,
  { clock }: Context,
): Promise<JsonText<AccountRow> | null> {
  const row = await validTokens(database, clock.now())
    .select("p.json")
    .where("p.owner_type", "=", subject.subjectType)
    .where("p.owner_id", "=", subject.subjectId)
    .where("p.name", "=", name)
    .executeTakeFirst();
  return row?.json ?? null;
}

function newToken({ subject }: Principal, name: string, context: Context): AccountRow & { readonly id: string } {
  const now = timestamp(context);
  return {
    id: context.newId(),
    name,
    type: "personal-access-token",
    tenantName: tenant,
    accountId: tenant,
    manifest: { type: "virtual-account", name, permissions: [] },
    createdBy: subject.subjectId,
    createdBySubject: subject,
    createdAt: now,
    updatedAt: now,
    jwts: [],
    metadata: {},
  };
}

// It has no expiry of its own.
function answer(token: JsonText<AccountRow>) {
  return withMember(token, "isExpired", toText(false));
}
