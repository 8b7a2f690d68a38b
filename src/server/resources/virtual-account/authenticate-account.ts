import type { Kysely } from "kysely";
import type { Secret } from "../../../contract/secret.ts";
import { preparedQuery } from "../../../store/prepared-query.ts";
import type { Authenticator } from "../../auth/authenticate.ts";
import { rolesOf } from "../../auth/grants.ts";
import { type FindSigningKey, type VerifiedToken, verifyToken } from "../../auth/jwt.ts";
import type { CallerCredential, Principal } from "../../auth/principal.ts";
import type { Context } from "../../context.ts";
import type { Tables } from "../../database/tables.ts";
import { isExpired } from "./expiry.ts";

/** The subject type of virtual accounts. */
export const accountSubjectType = "virtualaccount";

/** Authenticates virtual accounts by their JWT; the database decides on every request whether a token is valid. */
export const authenticateAccount: Authenticator = async (token, context) => {
  const { store, signingKeys, clock } = context;
  const verified = await verifyOnce(signingKeys.find, token);
  if (verified === null) return null;
  const [jwt] = await jwtById(store.read, { id: verified.jwtId });
  // A token signed with another key than recorded is forged.
  if (jwt === undefined || (jwt.kid !== null && jwt.kid !== verified.kid)) return null;
  if (jwt.valid_until !== null && jwt.valid_until <= clock.now()) return null;
  const { jwtId } = verified;
  return accountPrincipal(jwt.account_id, { root: jwtId, name: `jwt/${jwtId}` }, context);
};

const verifiedTokens = new WeakMap<Secret, VerifiedToken>();

// A write authenticates twice, the second time while others wait for its transaction. A signature does not change.
async function verifyOnce(find: FindSigningKey, token: Secret): Promise<VerifiedToken | null> {
  const known = verifiedTokens.get(token);
  if (known !== undefined) return (await find(known.kid)) === null ? null : known;
  const verified = await verifyToken(find, token);
  if (verified !== null) verifiedTokens.set(token, verified);
  return verified;
}

const jwtById = preparedQuery((database: Kysely<Tables>, { id }: { readonly id: string }) =>
  database.selectFrom("jwts").select(["account_id", "valid_until", "kid"]).where("id", "=", id),
);

const accountById = preparedQuery((database: Kysely<Tables>, { id }: { readonly id: string }) =>
  database.selectFrom("virtual_accounts").select(["id", "name", "expires_on"]).where("id", "=", id),
);

/** The principal of a virtual account, with its roles; null when it is absent or expired. */
export async function accountPrincipal(
  accountId: string,
  credential: CallerCredential,
  { store, clock }: Context,
): Promise<Principal | null> {
  const [account] = await accountById(store.read, { id: accountId });
  if (account === undefined || isExpired(account.expires_on, clock.now())) return null;
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
