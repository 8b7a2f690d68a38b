import type { Kysely, Transaction } from "kysely";
import type { Secret } from "../../contract/secret.ts";
import { isPrintable } from "../../model/unprintable.ts";
import { preparedQuery } from "../../store/prepared-query.ts";
import { type Context, timestamp } from "../context.ts";
import type { Tables } from "../database/tables.ts";
import { tokenHash } from "./authenticate.ts";

/** A row of a user. */
export type UserRow = Tables["users"];

const MAX_EMAIL_LENGTH = 254;

/**
 * The name of the user with an e-mail: the e-mail in lower case. Null for what is no e-mail, and for one in another
 * Unicode form than NFKC, which would look like that of somebody else.
 */
export function userNameOf(email: string): string | null {
  const name = email.toLowerCase();
  const isStable = [email, name].every((text) => text.normalize("NFKC") === text);
  const isEmail = /^[^\s@:,;<>()[\]\\"]+@[^\s@:,;<>()[\]\\"]+$/.test(name);
  return isStable && isEmail && isPrintable(name) && name.length <= MAX_EMAIL_LENGTH ? name : null;
}

const bySlug = preparedQuery((database: Kysely<Tables>, { slug }: { readonly slug: string }) =>
  database.selectFrom("users").selectAll().where("slug", "=", slug),
);

/** The user of a name, also one that was removed; null when there is none. */
export async function userNamed(database: Kysely<Tables>, slug: string): Promise<UserRow | null> {
  const [row] = await bySlug(database, { slug });
  return row ?? null;
}

/** The row of a new user. */
export function newUser(
  user: Pick<UserRow, "id" | "slug" | "display_name" | "sign_in"> & Partial<UserRow>,
  context: Context,
): UserRow {
  const absent = { issuer: null, issuer_subject: null, signed_in_at: null, removed_at: null };
  return { ...absent, created_at: timestamp(context), ...user };
}

/** Adds a token to those of a user. */
export async function addUserToken(
  transaction: Transaction<Tables>,
  { userId: user_id, token }: { readonly userId: string; readonly token: Secret },
  context: Context,
): Promise<void> {
  const created_at = timestamp(context);
  const row = { hash: tokenHash(token), user_id, name: `token-${context.newId()}`, created_at, not_before: null };
  await transaction.insertInto("tokens").values(row).execute();
}

/** Whether a user has a token of its own, which is not one of its personal access tokens. */
export async function hasToken(database: Kysely<Tables>, userId: string): Promise<boolean> {
  const row = await database.selectFrom("tokens").select("hash").where("user_id", "=", userId).executeTakeFirst();
  return row !== undefined;
}

/** Ends the tokens that a user has; it may get new ones, and may sign in again through its issuer. */
export async function endCredentials(
  transaction: Transaction<Tables>,
  userId: string,
  { clock }: Context,
): Promise<void> {
  await transaction.deleteFrom("tokens").where("user_id", "=", userId).where("hash", "not like", "issuer/%").execute();
  // The issuer counts seconds: those that it issued in the present one may be from before.
  const not_before = Math.floor(clock.now() / 1000) + 1;
  await transaction.updateTable("tokens").set({ not_before }).where("user_id", "=", userId).execute();
}
