import type { Authenticator } from "../../auth/authenticate.ts";
import { rolesOf } from "../../auth/grants.ts";
import { verifyToken } from "../../auth/jwt.ts";
import type { CallerCredential, Principal } from "../../auth/principal.ts";
import type { Context } from "../../context.ts";
import { isExpired } from "./expiry.ts";

/** The subject type of virtual accounts. */
export const accountSubjectType = "virtualaccount";

/** Authenticates virtual accounts by their JWT; the database decides on every request whether a token is valid. */
export const authenticateAccount: Authenticator = async (token, context) => {
  const { store, signingKeys, now } = context;
  const verified = await verifyToken(signingKeys.find, token);
  if (verified === null) return null;
  const jwt = await store.read
    .selectFrom("jwts")
    .select(["account_id", "valid_until", "kid"])
    .where("id", "=", verified.jwtId)
    .executeTakeFirst();
  // A token signed with another key than recorded is forged.
  if (jwt === undefined || (jwt.kid !== null && jwt.kid !== verified.kid)) return null;
  if (jwt.valid_until !== null && jwt.valid_until <= now()) return null;
  const { jwtId } = verified;
  return accountPrincipal(jwt.account_id, { root: jwtId, name: `jwt/${jwtId}` }, context);
};

/** The principal of a virtual account, with its roles; null when it is absent or expired. */
export async function accountPrincipal(
  accountId: string,
  credential: CallerCredential,
  { store, now }: Pick<Context, "store" | "now">,
): Promise<Principal | null> {
  const account = await store.read
    .selectFrom("virtual_accounts")
    .select(["id", "name", "expires_on"])
    .where("id", "=", accountId)
    .executeTakeFirst();
  if (account === undefined || isExpired(account.expires_on, now())) return null;
  const { id: subjectId, name: slug } = account;
  const name = `${accountSubjectType}:${slug}`;
  const subject = {
    subjectId,
    subjectType: accountSubjectType,
    subjectSlug: slug,
    subjectDisplayName: slug,
  };
  return { name, subject, roles: await rolesOf(store.read, name, slug), credential };
}
