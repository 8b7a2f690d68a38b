import { randomBytes } from "node:crypto";
import { Secret } from "../contract/secret.ts";
import { accountPrincipal, accountSubjectType } from "./account-token.ts";
import { type Authenticator, tokenHash, userPrincipal } from "./auth.ts";

/** A new opaque token of 256 random bits. */
export function createPersonalToken(): Secret {
  return new Secret(`hfp_${randomBytes(32).toString("base64url")}`);
}

/** Knows the tokens that callers made for themselves: each stands for its owner, for as long as the owner counts. */
export const personalToken: Authenticator = async (token, context) => {
  const row = await context.store.read
    .selectFrom("personal_tokens")
    .select(["owner_type", "owner_id"])
    .where("hash", "=", tokenHash(token))
    .executeTakeFirst();
  if (row === undefined) return null;
  const find = row.owner_type === accountSubjectType ? accountPrincipal : userPrincipal;
  return find(row.owner_id, context);
};
