import type { Kysely, Transaction } from "kysely";
import type { Subject } from "../../../contract/resources.ts";
import { fromText } from "../../database/json-text.ts";
import type { ResourceRow, Tables } from "../../database/tables.ts";
import type { AccountRow } from "../virtual-account/tables.ts";
import { accountSubjectType } from "../virtual-account/token.ts";

declare module "../../database/tables.ts" {
  interface Tables {
    /** Tokens that callers made for themselves by operation 7; of the token itself only its SHA-256 is kept. */
    readonly personal_tokens: ResourceRow<AccountRow> & {
      readonly hash: string;
      readonly owner_type: string;
      readonly owner_id: string;
      readonly name: string;
      /** What it ends with: the hash of its owner's token in `tokens`, or the id of its owner's JWT in `jwts`. */
      readonly credential: string | null;
      /** The name of the credential that made it; null where that was not recorded. */
      readonly made_with: string | null;
      /** When it was last used (epoch milliseconds, to within minutes). */
      readonly last_used_at: number | null;
    };
  }
}

/** Whose a personal access token is. */
export type TokenOwner = Pick<Subject, "subjectType" | "subjectId">;

/**
 * The personal access tokens whose credential still counts, as a query: a user's ends with the token that it goes back
 * to, an account's with the JWT, at the end of its grace where that was rotated.
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

/** Whose a token is, as `collaborators` name it. */
export function subjectOf(json: Tables["personal_tokens"]["json"]): string {
  const { subjectType, subjectSlug } = fromText(json).createdBySubject;
  return `${subjectType}:${subjectSlug}`;
}

/** A token as those who end it need to know it. */
type EndedToken = Pick<Tables["personal_tokens"], "id" | "json">;

/** Ends a token, and those that were made with it; answers all of them. */
export async function revokeToken(transaction: Transaction<Tables>, token: EndedToken): Promise<readonly EndedToken[]> {
  await transaction.deleteFrom("personal_tokens").where("id", "=", token.id).execute();
  const made = await transaction
    .selectFrom("personal_tokens")
    .select(["id", "json"])
    .where("made_with", "=", personalTokenName(token.id))
    .execute();
  const ended: EndedToken[] = [token];
  for (const one of made) ended.push(...(await revokeToken(transaction, one)));
  return ended;
}

/** How a personal access token is named as the credential that made another. */
export function personalTokenName(id: string): string {
  return `personal-access-token/${id}`;
}

/** Forgets the tokens whose credential is gone. */
export async function deleteInvalidTokens(database: Kysely<Tables>, now: number): Promise<void> {
  await database
    .deleteFrom("personal_tokens")
    .where("id", "not in", validTokens(database, now).select("p.id"))
    .execute();
}
