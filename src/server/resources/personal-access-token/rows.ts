// biome-ignore-all lint/plugin: a token must not be foreseen
import { randomBytes } from "node:crypto";
import type { Kysely, Transaction } from "kysely";
import { Secret } from "../../../contract/secret.ts";
import { preparedQuery } from "../../../store/prepared-query.ts";
import { type Authenticator, tokenHash, userPrincipal } from "../../auth/authenticate.ts";
import { fromText } from "../../database/json-text.ts";
import type { ResourceRow, Tables } from "../../database/tables.ts";
import type { AccountRow } from "../virtual-account/account.ts";
import { accountPrincipal, accountSubjectType } from "../virtual-account/authenticate-account.ts";

declare module "../../database/tables.ts" {
  interface Tables {
    /** Tokens created by `putVirtualAccount`; only the SHA-256 of a token is stored. */
    readonly personal_tokens: ResourceRow<AccountRow> & {
      readonly hash: string;
      readonly owner_type: string;
      readonly owner_id: string;
      readonly name: string;
      /** The credential that it depends on: the hash of its owner's token in `tokens`, or the id of a JWT in `jwts`. */
      readonly credential: string | null;
      /** The name of the credential that created it; null when it was not recorded. */
      readonly made_with: string | null;
      /** When it was last used (epoch milliseconds, to within minutes). */
      readonly last_used_at: number | null;
    };
  }
}

/** The owner of a personal access token. */
export type TokenOwner = { readonly subjectType: string; readonly subjectId: string };

const validToken = preparedQuery(
  (database: Kysely<Tables>, { hash, now }: { readonly hash: string; readonly now: number }) =>
    validTokens(database, now)
      .select(["p.id", "p.owner_type", "p.owner_id", "p.credential", "p.last_used_at"])
      .where("p.hash", "=", hash),
);

/**
 * Authenticates by personal access tokens: each is valid for its owner as long as the owner exists and the credential
 * that it depends on is valid.
 */
export const authenticatePersonalToken: Authenticator = async (token, context) => {
  const [row] = await validToken(context.store.read, { hash: tokenHash(token), now: context.clock.now() });
  if (row === undefined || row.credential === null) return null;
  const find = row.owner_type === accountSubjectType ? accountPrincipal : userPrincipal;
  const credential = { root: row.credential, name: personalTokenName(row.id) };
  const principal = await find(row.owner_id, credential, context);
  if (principal !== null) context.tokenUses.record(row.id, row.last_used_at);
  return principal;
};

/**
 * The valid personal access tokens, as a query: a user's is valid as long as the user token that it depends on, an
 * account's as long as the JWT, which after a rotation is until the end of its grace period.
 */
export function validTokens(database: Kysely<Tables>, now: number) {
  return database
    .selectFrom("personal_tokens as p")
    .leftJoin("tokens as t", (join) => join.onRef("t.hash", "=", "p.credential").onRef("t.user_id", "=", "p.owner_id"))
    .leftJoin("jwts as j", (join) => join.onRef("j.id", "=", "p.credential").onRef("j.account_id", "=", "p.owner_id"))
    .where(({ or, and, eb }) =>
      or([
        eb("t.hash", "is not", null),
        and([eb("j.id", "is not", null), or([eb("j.valid_until", "is", null), eb("j.valid_until", ">", now)])]),
      ]),
    );
}

/** Whether a credential is still valid with which an owner did something at a time, in epoch milliseconds. */
export async function isStillValid(
  database: Kysely<Tables>,
  {
    owner,
    root,
    name,
    at,
  }: { readonly owner: string; readonly root: string; readonly name: string; readonly at: number },
  now: number,
): Promise<boolean> {
  const [kind, id = ""] = name.split("/");
  if (kind === PERSONAL) {
    const row = await validTokens(database, now).select("p.id").where("p.id", "=", id).executeTakeFirst();
    return row !== undefined;
  }
  const token = await database
    .selectFrom("tokens")
    .select("not_before")
    .where("hash", "=", root)
    .where("user_id", "=", owner)
    .executeTakeFirst();
  if (token !== undefined) return token.not_before === null || Number(token.not_before) * 1000 <= at;
  const jwt = await database
    .selectFrom("jwts")
    .select("valid_until")
    .where("id", "=", root)
    .where("account_id", "=", owner)
    .executeTakeFirst();
  return jwt !== undefined && (jwt.valid_until === null || Number(jwt.valid_until) > now);
}

const PERSONAL = "personal-access-token";

/** The owner that a subject (`user:dev@example.com`, `virtualaccount:ci`) names; null when there is none. */
export async function findOwner(database: Kysely<Tables>, subject: string): Promise<TokenOwner | null> {
  const at = subject.indexOf(":");
  const [subjectType, slug] = [subject.slice(0, at), subject.slice(at + 1)];
  const row = await (subjectType === accountSubjectType
    ? database.selectFrom("virtual_accounts").select("id").where("name", "=", slug)
    : database
        .selectFrom("users")
        .select("id")
        .where("slug", "=", subjectType === "user" ? slug : "")
  ).executeTakeFirst();
  return row === undefined ? null : { subjectType, subjectId: row.id };
}

/** The owner of a token, as named in `collaborators`. */
export function subjectOf(json: Tables["personal_tokens"]["json"]): string {
  const { subjectType, subjectSlug } = fromText(json).createdBySubject;
  return `${subjectType}:${subjectSlug}`;
}

type RevokedToken = { readonly id: string; readonly json: Tables["personal_tokens"]["json"] };

/** Deletes a token and those that were created with it; returns all of them. */
export async function revokeToken(
  transaction: Transaction<Tables>,
  token: RevokedToken,
): Promise<readonly RevokedToken[]> {
  await transaction.deleteFrom("personal_tokens").where("id", "=", token.id).execute();
  const made = await transaction
    .selectFrom("personal_tokens")
    .select(["id", "json"])
    .where("made_with", "=", personalTokenName(token.id))
    .execute();
  const revoked: RevokedToken[] = [token];
  for (const one of made) revoked.push(...(await revokeToken(transaction, one)));
  return revoked;
}

/** The name of a personal access token as the credential that created another. */
function personalTokenName(id: string): string {
  return `${PERSONAL}/${id}`;
}

/** Deletes tokens whose credential is invalid. */
export async function deleteInvalidTokens(database: Kysely<Tables>, now: number): Promise<void> {
  await database
    .deleteFrom("personal_tokens")
    .where("id", "not in", validTokens(database, now).select("p.id"))
    .execute();
}

/** A new random token of 256 bits. */
export function createPersonalToken(): Secret {
  return new Secret(`hfp_${randomBytes(32).toString("base64url")}`);
}
