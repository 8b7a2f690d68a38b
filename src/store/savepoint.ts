import { sql, type Transaction } from "kysely";

/**
 * Takes back what was done since a savepoint, because of an error. Where SQLite has given up the whole transaction, as it
 * does on a full disk, there is no savepoint any more, and the error that made it do so is thrown.
 */
export async function rollBackTo<Tables>(
  transaction: Transaction<Tables>,
  savepoint: string,
  error: unknown,
): Promise<void> {
  try {
    await sql`ROLLBACK TO SAVEPOINT ${sql.id(savepoint)}`.execute(transaction);
  } catch (failure) {
    throw error ?? failure;
  }
}
