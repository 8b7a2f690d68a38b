import { randomBytes } from "node:crypto";
import type { Kysely } from "kysely";
import { Secret } from "../../../contract/secret.ts";
import { preparedQuery } from "../../../store/prepared-query.ts";
import { type Authenticator, tokenHash, userPrincipal } from "../../auth/authenticate.ts";
import type { Tables } from "../../database/tables.ts";
import { accountPrincipal, accountSubjectType } from "../virtual-account/authenticate-account.ts";
import { personalTokenName, validTokens } from "./rows.ts";

/** A new random token of 256 bits. */
export function createPersonalToken(): Secret {
  return new Secret(`hfp_${randomBytes(32).toString("base64url")}`);
}

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
  const [row] = await validToken(context.store.read, { hash: tokenHash(token), now: context.now() });
  if (row === undefined || row.credential === null) return null;
  const find = row.owner_type === accountSubjectType ? accountPrincipal : userPrincipal;
  const credential = { root: row.credential, name: personalTokenName(row.id) };
  const principal = await find(row.owner_id, credential, context);
  if (principal !== null) context.tokenUses.record(row.id, row.last_used_at);
  return principal;
};
