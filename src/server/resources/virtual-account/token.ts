import type { Transaction } from "kysely";
import type { Secret } from "../../../contract/secret.ts";
import type { Authenticator } from "../../auth/authenticate.ts";
import { rolesOf } from "../../auth/grants.ts";
import { signToken, verifyToken } from "../../auth/jwt.ts";
import type { CallerCredential, Principal } from "../../auth/principal.ts";
import type { Context } from "../../context.ts";
import type { Tables } from "../../database/tables.ts";
import { isExpired } from "./expiry.ts";
import type { AccountRow } from "./tables.ts";

/** How virtual accounts are named as subjects. */
export const accountSubjectType = "virtualaccount";

/** Knows the tokens of virtual accounts: the database says on every request whether one still counts. */
export const authenticateAccount: Authenticator = async (token, context) => {
  const { store, signingKeys, now } = context;
  const verified = await verifyToken(signingKeys.find, token);
  if (verified === null) return null;
  const jwt = await store.read
    .selectFrom("jwts")
    .select(["account_id", "valid_until", "kid"])
    .where("id", "=", verified.jwtId)
    .executeTakeFirst();
  // Another key than the one it was made with can only vouch for a forgery.
  if (jwt === undefined || (jwt.kid !== null && jwt.kid !== verified.kid)) return null;
  if (jwt.valid_until !== null && jwt.valid_until <= now()) return null;
  const { jwtId } = verified;
  return accountPrincipal(jwt.account_id, { root: jwtId, name: `jwt/${jwtId}` }, context);
};

/** The virtual account of that id, with its roles; null when there is none, or when its last day is over. */
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

/** Makes a token for an account, and keeps its id alone. */
export async function issueToken(
  transaction: Transaction<Tables>,
  { id: accountId, name }: Pick<AccountRow, "name"> & { readonly id: string },
  now: number,
  { newId, signingKeys }: Pick<Context, "newId" | "signingKeys">,
): Promise<{ readonly jwtId: string; readonly token: Secret }> {
  const jwtId = newId();
  const key = signingKeys.newest();
  const token = await signToken(key, { jwtId, accountId, name }, now);
  const created_at = new Date(now).toISOString();
  const row = { id: jwtId, account_id: accountId, created_at, valid_until: null, kid: key.kid };
  await transaction.insertInto("jwts").values(row).execute();
  return { jwtId, token };
}
