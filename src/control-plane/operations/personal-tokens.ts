import type { Kysely } from "kysely";
import { badRequest } from "../../http/refusal.ts";
import { tokenHash } from "../auth.ts";
import type { Handler } from "../call.ts";
import { type Context, timestamp } from "../context.ts";
import { recordEffect } from "../data/audit.ts";
import type { KeptAccount, Tables } from "../data/tables.ts";
import { type JsonText, toText, withMember } from "../json-text.ts";
import { createPersonalToken } from "../personal-token.ts";
import { type Principal, tenant } from "../principal.ts";
import { type Served, serve } from "../serve.ts";

const getPersonalAccessToken: Handler<"getPersonalAccessToken"> = async ({ principal, path: { name } }, context) => {
  if (!/^[A-Za-z0-9._-]{1,64}$/.test(name)) throw badRequest("the name is 1 to 64 letters, digits, `-`, `_` or `.`");
  const kept = await findToken(context.store.read, principal, name);
  if (kept !== null) return { data: answer(kept), beside: { created: false } };
  return context.store.write(async (transaction) => {
    const meanwhile = await findToken(transaction, principal, name);
    if (meanwhile !== null) return { data: answer(meanwhile), beside: { created: false } };
    const token = createPersonalToken();
    const { subjectId: owner_id, subjectType: owner_type } = principal.subject;
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

/** The operation on personal access tokens: 7. */
export const personalTokens: readonly Served[] = [serve("getPersonalAccessToken", getPersonalAccessToken)];

// Everyone has names of its own: whose token it is, is part of what is looked for.
async function findToken(
  database: Kysely<Tables>,
  { subject }: Principal,
  name: string,
): Promise<JsonText<KeptAccount> | null> {
  const row = await database
    .selectFrom("personal_tokens")
    .select("json")
    .where("owner_type", "=", subject.subjectType)
    .where("owner_id", "=", subject.subjectId)
    .where("name", "=", name)
    .executeTakeFirst();
  return row?.json ?? null;
}

function newToken(
  { subject }: Principal,
  name: string,
  context: Pick<Context, "now" | "newId">,
): KeptAccount & { readonly id: string } {
  const now = timestamp(context);
  return {
    id: context.newId(),
    name,
    type: "personal-access-token",
    tenantName: tenant,
    jwtId: null,
    accountId: tenant,
    nextScheduledRotation: null,
    manifest: { type: "virtual-account", name, permissions: [] },
    createdBy: subject.subjectId,
    createdBySubject: subject,
    createdAt: now,
    updatedAt: now,
    jwts: [],
    metadata: {},
  };
}

// It never expires by itself: it ends with its owner.
function answer(kept: JsonText<KeptAccount>) {
  return withMember(kept, "isExpired", toText(false));
}
