import type { Kysely, Transaction } from "kysely";
import type { Secret } from "../../../contract/secret.ts";
import { requireEnabled } from "../../auth/disabled-subjects.ts";
import { permissionGrants, replaceGrants } from "../../auth/grants.ts";
import { signToken } from "../../auth/jwt.ts";
import type { Context } from "../../context.ts";
import { fromText, toText } from "../../database/json-text.ts";
import type { Tables } from "../../database/tables.ts";
import { type AccountRow, lastDay, rotationTime, type StoredAccount } from "./account.ts";
import { accountSubjectType } from "./authenticate-account.ts";

/** The virtual account of that name, visible or not. */
export async function findAccount(database: Kysely<Tables>, name: string): Promise<StoredAccount | null> {
  return accountOf(await accountRows(database).where("name", "=", name).executeTakeFirst());
}

/** The virtual account of that id. */
export async function findAccountById(database: Kysely<Tables>, id: string): Promise<StoredAccount | null> {
  return accountOf(await accountRows(database).where("id", "=", id).executeTakeFirst());
}

function accountRows(database: Kysely<Tables>) {
  return database.selectFrom("virtual_accounts").select(["id", "json"]);
}

function accountOf(row: Pick<Tables["virtual_accounts"], "id" | "json"> | undefined): StoredAccount | null {
  return row === undefined ? null : { ...fromText(row.json), id: row.id };
}

/** Inserts or updates an account and its grants. */
export async function saveAccount(transaction: Transaction<Tables>, account: StoredAccount): Promise<void> {
  const { id, name, createdAt, manifest } = account;
  const changing = { json: toText(account), expires_on: lastDay(manifest), rotate_at: rotationTime(account) };
  await transaction
    .insertInto("virtual_accounts")
    .values({ id, created_at: createdAt, name, ...changing })
    .onConflict((conflict) => conflict.column("id").doUpdateSet(changing))
    .execute();
  const source = `virtual-account/${name}`;
  await replaceGrants(transaction, source, permissionGrants(`virtualaccount:${name}`, manifest));
}

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
