import type { Kysely, Transaction } from "kysely";
import type { Secret } from "../../../contract/secret.ts";
import type { Principal } from "../../auth/principal.ts";
import type { Context } from "../../context.ts";
import { markChanged } from "../../database/digests.ts";
import type { Tables } from "../../database/tables.ts";
import { findGroup, insertGroup } from "./groups.ts";
import { readSecretPath } from "./read-group-manifest.ts";
import { findSecret, putValue } from "./values.ts";

/** Whether a virtual account may store its token at `group/key`: the path is free, or the account's own. */
export async function isPathAvailable(database: Kysely<Tables>, account: string, path: string): Promise<boolean> {
  const place = readSecretPath(path);
  if (place === null) return false;
  const row = await database
    .selectFrom("secrets as s")
    .innerJoin("secret_groups as g", "g.id", "s.group_id")
    .select("s.account")
    .where("g.name", "=", place.group)
    .where("s.name", "=", place.key)
    .executeTakeFirst();
  return row === undefined || row.account === account;
}

/** Assigns a secret to an account as the place of its token, if `creator` created it and no other account uses it. */
export async function assignToAccount(
  transaction: Transaction<Tables>,
  { account, path, creator }: { readonly account: string; readonly path: string; readonly creator: Principal },
): Promise<void> {
  const place = readSecretPath(path);
  const group = place && (await findGroup(transaction, place.group));
  const secret = group && (await findSecret(transaction, group.id, place.key));
  if (!secret || secret.createdBy !== creator.subject.subjectId) return;
  await transaction
    .updateTable("secrets")
    .set({ account })
    .where("id", "=", secret.id)
    .where("account", "is", null)
    .execute();
}

/** Stores the token of a virtual account at `group/key`, which must be available; creates the group when it is absent. */
export async function storeToken(
  transaction: Transaction<Tables>,
  principal: Principal,
  { account, path, token: value }: { readonly account: string; readonly path: string; readonly token: Secret },
  context: Context,
): Promise<void> {
  const place = readSecretPath(path);
  if (place === null || !(await isPathAvailable(transaction, account, path)))
    throw new TypeError("the path was not checked");
  const group =
    (await findGroup(transaction, place.group)) ??
    (await insertGroup(transaction, principal, { name: place.group }, context));
  await putValue(transaction, principal, { group, key: place.key, value, account }, context);
  await markChanged(transaction, `secret-group/${place.group}`, context);
}
