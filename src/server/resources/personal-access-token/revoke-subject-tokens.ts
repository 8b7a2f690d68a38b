import type { Transaction } from "kysely";
import { systemPrincipal } from "../../auth/principal.ts";
import { type Context, timestamp } from "../../context.ts";
import { recordEffect } from "../../database/audit.ts";
import type { Tables } from "../../database/tables.ts";
import { OptionsError } from "../../options.ts";
import { isPathAvailable, storeToken } from "../secret-group/account-tokens.ts";
import { builtinSecretPath, withoutTokens, withToken } from "../virtual-account/account.ts";
import { accountSubjectType } from "../virtual-account/authenticate-account.ts";
import { issueToken } from "../virtual-account/issue-token.ts";
import { findAccount, saveAccount } from "../virtual-account/rows.ts";

const principal = systemPrincipal("revocation");

/**
 * Revokes all tokens of these subjects (`virtualaccount:ci`, `user:dev@example.com`), their personal access tokens
 * included; an account with a secret store gets a new token there.
 */
export async function revokeTokens(subjects: readonly string[], context: Context): Promise<void> {
  for (const subject of subjects) {
    await context.store.write((transaction) => revokeOf(transaction, subject, context));
    context.log.warn({ subject }, "its tokens were revoked");
  }
}

async function revokeOf(transaction: Transaction<Tables>, subject: string, context: Context): Promise<void> {
  const [type, ...rest] = subject.split(":");
  const name = rest.join(":");
  if (type === accountSubjectType) return revokeAccount(transaction, name, context);
  const user = type === "user" ? await findUser(transaction, name) : null;
  if (user === null) throw new OptionsError(`there is no subject ${subject}`);
  await deletePersonalTokens(transaction, "user", user);
  const resource = `personal-access-token/${subject}`;
  await recordEffect(transaction, context, { principal, operation: "getPersonalAccessToken", resource });
}

async function revokeAccount(transaction: Transaction<Tables>, name: string, context: Context): Promise<void> {
  const account = await findAccount(transaction, name);
  if (account === null) throw new OptionsError(`there is no virtual account "${name}"`);
  await transaction.deleteFrom("jwts").where("account_id", "=", account.id).execute();
  await deletePersonalTokens(transaction, accountSubjectType, account.id);
  const bare = withoutTokens({ ...account, updatedAt: timestamp(context) });
  const path = builtinSecretPath(account.manifest);
  if (path === null || !(await isPathAvailable(transaction, name, path))) {
    await saveAccount(transaction, bare);
  } else {
    const now = context.now();
    const { jwtId, token } = await issueToken(transaction, account, now, context);
    await storeToken(transaction, principal, { account: name, path, token }, context);
    await saveAccount(transaction, withToken(bare, jwtId, now, null));
  }
  const resource = `virtual-account/${name}`;
  await recordEffect(transaction, context, { principal, operation: "putVirtualAccount", resource });
}

async function deletePersonalTokens(transaction: Transaction<Tables>, type: string, id: string): Promise<void> {
  await transaction.deleteFrom("personal_tokens").where("owner_type", "=", type).where("owner_id", "=", id).execute();
}

async function findUser(transaction: Transaction<Tables>, slug: string): Promise<string | null> {
  const row = await transaction.selectFrom("users").select("id").where("slug", "=", slug).executeTakeFirst();
  return row?.id ?? null;
}
