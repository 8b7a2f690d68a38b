import type { Kysely, Transaction } from "kysely";
import { conflict } from "../../http/http-error.ts";
import type { Tables } from "../database/tables.ts";

declare module "../database/tables.ts" {
  interface Tables {
    /** Subjects (`virtualaccount:ci`, `user:dev@example.com`) that never get a token again. */
    readonly disabled_subjects: { readonly subject: string; readonly disabled_at: string };
  }
}

/** Whether a subject never gets a token again. */
export async function isDisabled(database: Kysely<Tables>, subject: string): Promise<boolean> {
  const row = await database
    .selectFrom("disabled_subjects")
    .select("subject")
    .where("subject", "=", subject)
    .executeTakeFirst();
  return row !== undefined;
}

/** Refuses to change or to issue a token to a subject that is disabled, with 409. */
export async function requireEnabled(database: Kysely<Tables>, subject: string): Promise<void> {
  if (await isDisabled(database, subject)) throw conflict("disabled", `${subject} is disabled for good`);
}

/** Records that a subject is disabled; false when it was before. */
export async function recordDisabled(
  transaction: Transaction<Tables>,
  row: Tables["disabled_subjects"],
): Promise<boolean> {
  const inserted = await transaction
    .insertInto("disabled_subjects")
    .values(row)
    .onConflict((existing) => existing.doNothing())
    .returning("subject")
    .execute();
  return inserted.length > 0;
}
