import type { Kysely, Transaction } from "kysely";
import { permissionGrants, replaceGrants } from "../../auth/grants.ts";
import { fromText, toText } from "../../database/json-text.ts";
import type { Tables } from "../../database/tables.ts";
import { lastDay, rotationTime, type StoredAccount } from "./account.ts";

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
