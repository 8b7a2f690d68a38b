import type { Transaction } from "kysely";
import type { JsonObject } from "../../../contract/json.ts";
import type { Secret } from "../../../contract/secret.ts";
import { requireEnabled } from "../../auth/disabled-subjects.ts";
import { type Grant, permissionGrants, replaceGrants } from "../../auth/grants.ts";
import { signToken } from "../../auth/jwt.ts";
import type { Context } from "../../context.ts";
import { toText } from "../../database/json-text.ts";
import { resourceBy, saveIn } from "../../database/resource-rows.ts";
import type { Stored, Tables } from "../../database/tables.ts";
import { requiredName } from "../../manifest/require-valid-manifest.ts";
import { type AccountRow, lastDay, rotationTime } from "./account.ts";
import { accountSubjectType } from "./authenticate-account.ts";

/** The virtual account of that name, visible or not. */
export const findAccount = resourceBy("virtual_accounts", "name");

/** The virtual account of that id. */
export const findAccountById = resourceBy("virtual_accounts", "id");

const upsertAccount = saveIn("virtual_accounts", "json", "expires_on", "rotate_at");

/** Inserts or updates an account and its grants. */
export async function saveAccount(transaction: Transaction<Tables>, account: Stored<AccountRow>): Promise<void> {
  const { id, name, createdAt, manifest } = account;
  const changing = { json: toText(account), expires_on: lastDay(manifest), rotate_at: rotationTime(account) };
  await upsertAccount(transaction, { id, created_at: createdAt, name, ...changing });
  await replaceGrants(transaction, `virtual-account/${name}`, accountGrants(manifest));
}

/** The roles that the manifest of an account grants it. */
export function accountGrants(manifest: JsonObject): readonly Grant[] {
  return permissionGrants(`${accountSubjectType}:${requiredName(manifest)}`, manifest);
}

/** Issues a token for an account; only its id is stored. */
export async function issueToken(
  transaction: Transaction<Tables>,
  { id: accountId, name }: Stored<AccountRow>,
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
