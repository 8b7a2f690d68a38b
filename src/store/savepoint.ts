import { sql, type Transaction } from "kysely";

/**
 * Rolls back to a savepoint because of an error. When SQLite has rolled back the whole transaction, as it does on a full
 * disk, the savepoint is gone, and the original error is thrown.
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
