import type { Transaction } from "kysely";
import type { OperationName } from "../../../contract/operations.ts";
import type { Secret } from "../../../contract/secret.ts";
import { conflict } from "../../../http/http-error.ts";
import { type Principal, systemPrincipal } from "../../auth/principal.ts";
import type { Context } from "../../context.ts";
import { recordChange } from "../../database/audit.ts";
import type { Stored, Tables } from "../../database/tables.ts";
import { isPathAvailable, storeToken } from "../secret-group/account-tokens.ts";
import { type AccountRow, builtinSecretPath, graceDays, withToken } from "./account.ts";
import { endOfGrace } from "./expiry.ts";
import { findAccount, issueToken, saveAccount } from "./rows.ts";

const HOUR = 3_600_000;

/**
 * Rotates the tokens that are due: the new one is stored in the account's secret, the former one is valid until the end
 * of its grace period. Returns when to run again, in epoch milliseconds.
 */
export async function rotateTokens(context: Context): Promise<number> {
  const today = new Date(context.clock.now()).toISOString().slice(0, 10);
  const due = await context.store.read
    .selectFrom("virtual_accounts")
    .select("name")
    .where("rotate_at", "<=", context.clock.now())
    // Expired accounts need no token.
    .where(({ or, eb }) => or([eb("expires_on", "is", null), eb("expires_on", ">=", today)]))
    .execute();
  for (const { name } of due) await context.store.write((transaction) => rotate(transaction, name, context));
  return context.clock.now() + HOUR;
}

async function rotate(transaction: Transaction<Tables>, name: string, context: Context): Promise<void> {
  const now = context.clock.now();
  const due = await transaction
    .selectFrom("virtual_accounts")
    .select("id")
    .where("name", "=", name)
    .where("rotate_at", "<=", now)
    .executeTakeFirst();
  const account = await findAccount(transaction, name);
  const path = account && builtinSecretPath(account.manifest);
  // Another server may have rotated it in the meantime.
  if (due === undefined || account === null || path === null) return;
  if (!(await isPathAvailable(transaction, name, path))) {
    context.log.warn(
      { event: "not-rotated", account: name, path },
      "not rotated: the secret at its path does not belong to the account",
    );
    return;
  }
  const caller = { principal: systemPrincipal("rotation"), operation: "putVirtualAccount" } as const;
  await replaceToken(transaction, account, caller, context);
}

/**
 * Gives an account a new token, which is also stored where its manifest wants it; the former one is valid until the end of its
 * grace period. Refuses it where the secret at that path belongs to somebody else.
 */
export async function replaceToken(
  transaction: Transaction<Tables>,
  account: Stored<AccountRow>,
  { principal, operation }: { readonly principal: Principal; readonly operation: OperationName },
  context: Context,
): Promise<{ readonly account: Stored<AccountRow>; readonly token: Secret }> {
  const { name, manifest } = account;
  const now = context.clock.now();
  const graceEnd = endOfGrace(graceDays(manifest), now);
  const { jwtId, token } = await issueToken(transaction, account, now, context);
  await retire(transaction, account, now, graceEnd);
  const path = builtinSecretPath(manifest);
  if (path !== null) {
    if (!(await isPathAvailable(transaction, name, path)))
      throw conflict("secret-taken", `the secret ${path} does not belong to this account`);
    await storeToken(transaction, principal, { account: name, path, token }, context);
  }
  const renewed = withToken({ ...account, updatedAt: new Date(now).toISOString() }, jwtId, now, graceEnd);
  await saveAccount(transaction, renewed);
  await recordChange(transaction, context, { principal, operation, resource: `virtual-account/${name}` });
  return { account: renewed, token };
}

// Also deletes tokens whose grace period has ended.
async function retire(
  transaction: Transaction<Tables>,
  { id, jwtId }: Stored<AccountRow>,
  now: number,
  graceEnd: number,
): Promise<void> {
  await transaction.deleteFrom("jwts").where("account_id", "=", id).where("valid_until", "<=", now).execute();
  if (jwtId === undefined) return;
  await transaction.updateTable("jwts").set({ valid_until: graceEnd }).where("id", "=", jwtId).execute();
}
