import type { Transaction } from "kysely";
import type { Secret } from "../contract/secret.ts";
import type { Authenticator } from "./auth.ts";
import type { Context } from "./context.ts";
import { rolesOf } from "./data/grants.ts";
import type { KeptAccount, Tables } from "./data/tables.ts";
import { isExpired } from "./expiry.ts";
import { signToken, verifiedTokenId } from "./tokens.ts";

/** How virtual accounts are named as subjects. */
export const accountSubjectType = "virtualaccount";

/** Knows the tokens of virtual accounts: the database says on every request whether one still counts. */
export const accountToken: Authenticator = async (token, { store, signingKeys, now }) => {
  const jwtId = await verifiedTokenId(signingKeys.all, token);
  if (jwtId === null) return null;
  const account = await store.read
    .selectFrom("jwts as j")
    .innerJoin("virtual_accounts as a", "a.id", "j.account_id")
    .select(["a.id", "a.name", "a.expires_on", "j.valid_until"])
    .where("j.id", "=", jwtId)
    .executeTakeFirst();
  if (account === undefined || isExpired(account.expires_on, now())) return null;
  if (account.valid_until !== null && account.valid_until <= now()) return null;
  const name = `${accountSubjectType}:${account.name}`;
  const subject = {
    subjectId: account.id,
    subjectType: accountSubjectType,
    subjectSlug: account.name,
    subjectDisplayName: account.name,
  };
  return { name, subject, roles: await rolesOf(store.read, name, account.name) };
};

/** Makes a token for an account, and keeps its id alone. */
export async function issueToken(
  transaction: Transaction<Tables>,
  { id: accountId, name }: Pick<KeptAccount, "name"> & { readonly id: string },
  now: number,
  { newId, signingKeys }: Pick<Context, "newId" | "signingKeys">,
): Promise<{ readonly jwtId: string; readonly token: Secret }> {
  const jwtId = newId();
  const token = await signToken(signingKeys.newest, { jwtId, accountId, name }, now);
  const created_at = new Date(now).toISOString();
  const row = { id: jwtId, account_id: accountId, created_at, valid_until: null, kid: signingKeys.newest.kid };
  await transaction.insertInto("jwts").values(row).execute();
  return { jwtId, token };
}
