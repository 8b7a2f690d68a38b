import type { Transaction } from "kysely";
import { subjectName } from "../../../model/roles.ts";
import { isAdministrator } from "../../auth/admin-token/rows.ts";
import { isDisabled } from "../../auth/disabled-subjects.ts";
import { systemPrincipal } from "../../auth/principal.ts";
import { endCredentials } from "../../auth/users.ts";
import { type Context, timestamp } from "../../context.ts";
import { recordChange, recordEffect } from "../../database/audit.ts";
import type { Stored, Tables } from "../../database/tables.ts";
import { OptionsError } from "../../options.ts";
import { isPathAvailable, storeToken } from "../secret-group/account-tokens.ts";
import { type AccountRow, builtinSecretPath, withoutTokens, withToken } from "../virtual-account/account.ts";
import { accountSubjectType } from "../virtual-account/authenticate-account.ts";
import { findAccount, issueToken, saveAccount } from "../virtual-account/rows.ts";
import { findOwner, type TokenOwner } from "./rows.ts";

/** Who revokes tokens by command, as the audit names it. */
const revocation = systemPrincipal("revocation");

/** What is left of a subject whose tokens were revoked. */
export type RevokedSubject = {
  readonly subject: string;
  /** Whether it never gets a token again. */
  readonly isDisabled: boolean;
  /** The secret with its new token; null when it has none. */
  readonly newTokenAt: string | null;
};

/**
 * Revokes all tokens of these subjects (`virtualaccount:ci`, `user:dev@example.com`), their personal access tokens
 * included; an account with a secret store gets a new token there, unless it is disabled.
 */
export async function revokeTokens(subjects: readonly string[], context: Context): Promise<readonly RevokedSubject[]> {
  const revoked: RevokedSubject[] = [];
  for (const subject of subjects) {
    revoked.push(await context.store.write((transaction) => revokeOf(transaction, subject, context)));
    context.log.warn({ event: "tokens-revoked", subject }, "its tokens were revoked");
  }
  return revoked;
}

/** Ends the tokens of a virtual account or a user: those that it was given, and its personal ones. */
export async function endTokensOf(
  transaction: Transaction<Tables>,
  { subjectType, subjectId }: TokenOwner,
): Promise<void> {
  if (subjectType === accountSubjectType) {
    await transaction.deleteFrom("jwts").where("account_id", "=", subjectId).execute();
  } else {
    await transaction.deleteFrom("tokens").where("user_id", "=", subjectId).execute();
  }
  await deletePersonalTokens(transaction, { subjectType, subjectId });
}

async function revokeOf(transaction: Transaction<Tables>, written: string, context: Context): Promise<RevokedSubject> {
  const subject = subjectName(written);
  const [type, ...rest] = subject.split(":");
  const name = rest.join(":");
  const state = { subject, isDisabled: await isDisabled(transaction, subject) };
  if (type === accountSubjectType) return { ...state, newTokenAt: await revokeAccount(transaction, name, context) };
  const user = type === "user" ? await findOwner(transaction, subject) : null;
  if (user === null) throw new OptionsError(`there is no subject ${subject}`);
  if (!isAdministrator(user.subjectType, user.subjectId)) await endCredentials(transaction, user.subjectId, context);
  await deletePersonalTokens(transaction, user);
  const resource = `personal-access-token/${subject}`;
  await recordEffect(transaction, context, { principal: revocation, operation: "getPersonalAccessToken", resource });
  return { ...state, newTokenAt: null };
}

// Returns the secret with the new token.
async function revokeAccount(transaction: Transaction<Tables>, name: string, context: Context): Promise<string | null> {
  const account = await findAccount(transaction, name);
  if (account === null) throw new OptionsError(`there is no virtual account "${name}"`);
  await endTokensOf(transaction, { subjectType: accountSubjectType, subjectId: account.id });
  const bare = withoutTokens({ ...account, updatedAt: timestamp(context) });
  const secret = await secretForToken(transaction, account);
  if (secret === null) {
    await saveAccount(transaction, bare);
  } else {
    const now = context.clock.now();
    const { jwtId, token } = await issueToken(transaction, account, now, context);
    await storeToken(transaction, revocation, { account: name, path: secret, token }, context);
    await saveAccount(transaction, withToken(bare, jwtId, now, null));
  }
  const resource = `virtual-account/${name}`;
  await recordChange(transaction, context, { principal: revocation, operation: "putVirtualAccount", resource });
  return secret;
}

/** Where a new token of the account can be stored; null where it gets none. */
async function secretForToken(
  transaction: Transaction<Tables>,
  { name, manifest }: Stored<AccountRow>,
): Promise<string | null> {
  const path = builtinSecretPath(manifest);
  if (path === null || (await isDisabled(transaction, `${accountSubjectType}:${name}`))) return null;
  return (await isPathAvailable(transaction, name, path)) ? path : null;
}

async function deletePersonalTokens(
  transaction: Transaction<Tables>,
  { subjectType, subjectId }: TokenOwner,
): Promise<void> {
  await transaction
    .deleteFrom("personal_tokens")
    .where("owner_type", "=", subjectType)
    .where("owner_id", "=", subjectId)
    .execute();
}
