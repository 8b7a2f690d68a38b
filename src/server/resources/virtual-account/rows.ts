import type { Kysely, Transaction } from "kysely";
import { permissionGrants, replaceGrants } from "../../auth/grants.ts";
import { fromText, toText } from "../../database/json-text.ts";
import type { Tables } from "../../database/tables.ts";
import { lastDay, rotationTime, type StoredAccount } from "./account.ts";

/** The virtual account of that name, visible or not. */
export async function findAccount(database: Kysely<Tables>, name: string): Promise<StoredAccount | null> {
  const row = await database
    .selectFrom("virtual_accounts")
    .select(["id", "json"])
    .where("name", "=", name)
    .executeTakeFirst();
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
