import type { Kysely } from "kysely";
import type { PersonalAccessToken } from "../../../contract/resources.ts";
import { badRequest, notFound } from "../../../http/refusal.ts";
import { isTenantAdmin } from "../../auth/access.ts";
import { tokenHash } from "../../auth/authenticate.ts";
import { type Principal, tenant } from "../../auth/principal.ts";
import { type Context, timestamp } from "../../context.ts";
import { recordEffect } from "../../database/audit.ts";
import { fromText, type JsonText, toText, withMember } from "../../database/json-text.ts";
import { newestFirst, totalOf } from "../../database/page.ts";
import type { Tables } from "../../database/tables.ts";
import type { Handler } from "../../http/call.ts";
import { serve } from "../../http/serve.ts";
import { oneTimeToken } from "../../openapi/shared-text.ts";
import type { BackgroundJob, Resource } from "../../resource.ts";
import { endOfDay } from "../virtual-account/expiry.ts";
import { accountsSection } from "../virtual-account/resource.ts";
import type { KeptAccount } from "../virtual-account/tables.ts";
import { createPersonalToken, personalToken } from "./authenticate.ts";
import { endToken, findOwner, forgetEndedTokens, liveTokens, subjectOf } from "./rows.ts";

const getPersonalAccessToken: Handler<"getPersonalAccessToken"> = async ({ principal, path: { name } }, context) => {
  if (!/^[A-Za-z0-9._-]{1,64}$/.test(name)) throw badRequest("the name is 1 to 64 letters, digits, `-`, `_` or `.`");
  const kept = await findToken(context.store.read, principal, name, context);
  if (kept !== null) return { data: answer(kept), beside: { created: false } };
  return context.store.write(async (transaction) => {
    const meanwhile = await findToken(transaction, principal, name, context);
    if (meanwhile !== null) return { data: answer(meanwhile), beside: { created: false } };
    // One that has ended with its credential leaves its name free.
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

const listPersonalAccessTokens: Handler<"listPersonalAccessTokens"> = async (call, context) => {
  const { read } = context.store;
  const { subject } = call.query;
  const wanted = [
    ...(isTenantAdmin(call.principal) ? [] : [call.principal.subject]),
    ...(subject === undefined ? [] : [await findOwner(read, subject)]),
  ];
  let rows = liveTokens(read, context.now());
  for (const owner of wanted) {
    rows = rows.where("p.owner_type", "=", owner?.subjectType ?? "").where("p.owner_id", "=", owner?.subjectId ?? "");
  }
  const listed = rows
    .leftJoin("virtual_accounts as a", "a.id", "p.owner_id")
    .select(["p.id", "p.json", "p.made_with", "p.last_used_at", "j.valid_until", "a.expires_on"]);
  // Tokens are small: no page of them is too large.
  const found = await newestFirst(listed, "p.", call.page).execute();
  return { rows: found.map((row) => toText(shown(row, context))), total: await totalOf(rows, call.page, found.length) };
};

const revokePersonalAccessToken: Handler<"revokePersonalAccessToken"> = async ({ principal, body }, context) =>
  context.store.write(async (transaction) => {
    const token = await transaction
      .selectFrom("personal_tokens")
      .select(["id", "json", "owner_type", "owner_id"])
      .where("id", "=", body.revoke)
      .executeTakeFirst();
    const { subjectType, subjectId } = principal.subject;
    const isOwn = token?.owner_type === subjectType && token.owner_id === subjectId;
    if (token === undefined || !(isOwn || isTenantAdmin(principal))) throw notFound("the token");
    for (const { json } of await endToken(transaction, token)) {
      const resource = `personal-access-token/${subjectOf(json)}/${fromText(json).name}`;
      await recordEffect(transaction, context, { principal, operation: "revokePersonalAccessToken", resource });
    }
    return undefined;
  });

const MINUTE = 60_000;

const keepUses: BackgroundJob = {
  name: "keeping when tokens were used",
  run: async ({ tokenUses, now }) => {
    await tokenUses.keep();
    return now() + MINUTE;
  },
  finish: ({ tokenUses }) => tokenUses.keep(),
};

/** The operations on personal access tokens: 7, E12 and E13. */
export const resource: Resource = {
  section: accountsSection,
  operations: [
    serve("getPersonalAccessToken", getPersonalAccessToken, {
      beside: {
        token: oneTimeToken,
        created: { description: "Whether this call made it", type: "boolean", examples: [true] },
      },
      // Everyone may have tokens of their own.
      refuses: { never: [403, 404] },
      description:
        "Answers the caller's own token of that name. When there is none it is made: `created` is true, and `token` is in this reply only. It ends with the credential that made it, or when it is revoked.\n\nAlthough a GET, this is a write: do not repeat it blindly.",
      answers: "VirtualAccount",
      parameters: {
        name: {
          description: "Name of the token",
          example: "laptop",
          schema: {
            maxLength: 64,
            pattern: "^[A-Za-z0-9._-]{1,64}$",
            "x-form": "1 to 64 letters, digits, '-', '_' or '.'",
          },
        },
      },
    }),
    serve("listPersonalAccessTokens", listPersonalAccessTokens, {
      description:
        "The caller's own, newest first; a tenant-admin sees everyone's. A token ends with the credential that made it, and is listed no more then.",
      answers: "PersonalAccessToken",
      parameters: { subject: { description: "Only those of this subject", example: "virtualaccount:ci" } },
    }),
    serve("revokePersonalAccessToken", revokePersonalAccessToken, {
      description:
        "Ends a token of the caller's own, and those that were made with it, at once; a tenant-admin may end anyone's. A token that is gone already is 404.",
      members: {
        revoke: {
          description: "Id of the token that is to end",
          minLength: 1,
          examples: ["019aa2c4-7f5e-7c3b-9d1e-4b8a52f0c6d1"],
        },
      },
    }),
  ],
  jobs: [keepUses],
  forget: (transaction, { now }) => forgetEndedTokens(transaction, now()),
  authenticate: personalToken,
};

// Everyone has names of its own: whose token it is, is part of what is looked for.
async function findToken(
  database: Kysely<Tables>,
  { subject }: Principal,
  name: string,
  { now }: Pick<Context, "now">,
): Promise<JsonText<KeptAccount> | null> {
  const row = await liveTokens(database, now())
    .select("p.json")
    .where("p.owner_type", "=", subject.subjectType)
    .where("p.owner_id", "=", subject.subjectId)
    .where("p.name", "=", name)
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

type Listed = Pick<Tables["personal_tokens"], "id" | "json" | "made_with" | "last_used_at"> & {
  readonly valid_until: number | null;
  readonly expires_on: string | null;
};

function shown(
  { id, json, made_with, last_used_at, valid_until, expires_on }: Listed,
  { tokenUses }: Pick<Context, "tokenUses">,
): PersonalAccessToken {
  const { name, createdAt } = fromText(json);
  const ends = [valid_until, endOfDay(expires_on)].flatMap((end) => (end === null ? [] : [Number(end)]));
  return {
    id,
    name,
    subject: subjectOf(json),
    createdAt,
    createdWith: made_with,
    lastUsedAt: momentOf(tokenUses.unkept(id) ?? last_used_at),
    expiry: momentOf(ends.length === 0 ? null : Math.min(...ends)),
  };
}

function momentOf(time: number | null): string | null {
  return time === null ? null : new Date(Number(time)).toISOString();
}
