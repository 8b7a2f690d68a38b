import type { Kysely, Transaction } from "kysely";
import type { Secret } from "../../../contract/secret.ts";
import { type Context, timestamp } from "../../context.ts";
import { recordEffect } from "../../database/audit.ts";
import type { Tables } from "../../database/tables.ts";
import { tokenHash } from "../authenticate.ts";
import { systemPrincipal, tenant } from "../principal.ts";
import { newUser } from "../users.ts";

declare module "../../database/tables.ts" {
  interface Tables {
    /** SHA-256 of the administrator's tokens that have ended, and never become valid again. */
    readonly ended_tokens: { readonly hash: string; readonly ended_at: string };
  }
}

/** The id of the administrator. */
const ADMIN = "admin";

const principal = systemPrincipal("bootstrap");

/** Whether a subject is the administrator. */
export function isAdministrator(subjectType: string, subjectId: string): boolean {
  return subjectType === "user" && subjectId === ADMIN;
}

/** Creates the administrator, and makes concurrent changes of its tokens conflict until the transaction ends. */
export async function lockAdministrator(transaction: Transaction<Tables>, context: Context): Promise<void> {
  await transaction
    .insertInto("users")
    .values(newUser({ id: ADMIN, slug: ADMIN, display_name: "Administrator", sign_in: "token" }, context))
    .onConflict((conflict) => conflict.column("id").doUpdateSet({ display_name: "Administrator" }))
    .execute();
  await transaction
    .insertInto("grants")
    .values({
      source: "bootstrap",
      subject: `user:${ADMIN}`,
      resource_type: "tenant",
      resource_fqn: tenant,
      role_id: "tenant-admin",
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** The valid tokens of the administrator, the newest first. */
export async function validAdminTokens(database: Kysely<Tables>): Promise<readonly Tables["tokens"][]> {
  return database.selectFrom("tokens").selectAll().where("user_id", "=", ADMIN).orderBy("created_at", "desc").execute();
}

/** Those of the tokens that have ended. */
export async function endedAmong(database: Kysely<Tables>, tokens: readonly Secret[]): Promise<ReadonlySet<string>> {
  if (tokens.length === 0) return new Set();
  const hashes = tokens.map(tokenHash);
  const rows = await database.selectFrom("ended_tokens").select("hash").where("hash", "in", hashes).execute();
  return new Set(rows.map(({ hash }) => hash));
}

/** Adds a token as the newest one; the first ever is not audited. */
export async function addAdminToken(transaction: Transaction<Tables>, token: Secret, context: Context): Promise<void> {
  const [newest] = await validAdminTokens(transaction);
  // The order of the tokens does not depend on a clock that was set back.
  const created_at = newest === undefined ? timestamp(context) : laterThan(newest.created_at, context);
  const name = `bootstrap-${created_at}`;
  await transaction
    .insertInto("tokens")
    .values({ hash: tokenHash(token), user_id: ADMIN, name, created_at, not_before: null })
    .execute();
  if (newest !== undefined) await audit(transaction, `user-token/${name}`, context);
}

/**
 * Ends tokens for good, and the personal tokens that were created with them, which would otherwise be valid again if
 * the token were; returns the number of those.
 */
export async function endAdminTokens(
  transaction: Transaction<Tables>,
  tokens: readonly Tables["tokens"][],
  context: Context,
): Promise<number> {
  let personal = 0;
  for (const { hash, name } of tokens) {
    await transaction.deleteFrom("tokens").where("hash", "=", hash).execute();
    await transaction
      .insertInto("ended_tokens")
      .values({ hash, ended_at: timestamp(context) })
      .execute();
    const dependent = transaction.deleteFrom("personal_tokens").where("credential", "=", hash);
    personal += (await dependent.returning("id").execute()).length;
    await audit(transaction, `ended-user-token/${name}`, context);
  }
  return personal;
}

function audit(transaction: Transaction<Tables>, resource: string, context: Context): Promise<void> {
  return recordEffect(transaction, context, { principal, operation: "admin-token", resource });
}

function laterThan(moment: string, { clock }: Context): string {
  return new Date(Math.max(clock.now(), Date.parse(moment) + 1)).toISOString();
}
