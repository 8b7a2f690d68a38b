import type { Transaction } from "kysely";
import type { Secret } from "../../../contract/secret.ts";
import { requireEnabled } from "../../auth/disabled-subjects.ts";
import { signToken } from "../../auth/jwt.ts";
import type { Context } from "../../context.ts";
import type { Tables } from "../../database/tables.ts";
import { accountSubjectType } from "./authenticate-account.ts";
import type { AccountRow } from "./tables.ts";

/** Issues a token for an account; only its id is stored. */
export async function issueToken(
  transaction: Transaction<Tables>,
  { id: accountId, name }: AccountRow & { readonly id: string },
  now: number,
  { newId, signingKeys }: Context,
): Promise<{ readonly jwtId: string; readonly token: Secret }> {
  await requireEnabled(transaction, `${accountSubjectType}:${name}`);
  const jwtId = newId();
  const key = signingKeys.newest();
  const token = await signToken(key, { jwtId, accountId, name }, now);
  const created_at = new Date(now).toISOString();
  const row = { id: jwtId, account_id: accountId, created_at, valid_until: null, kid: key.kid };
  await transaction.insertInto("jwts").values(row).execute();
  return { jwtId, token };
}
