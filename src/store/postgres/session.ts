import type { CompiledQuery, DatabaseConnection, IsolationLevel, QueryResult } from "kysely";
import type { PoolClient } from "pg";
import { StoreError } from "../store-error.ts";
import { isAnswer, postgresFault } from "./fault.ts";

/** A commit whose answer was lost: only the database knows what became of the transaction. */
export class CommitInDoubt extends Error {
  override readonly name = "CommitInDoubt";
  readonly transactionId: string;

  constructor(transactionId: string, { cause }: { readonly cause: unknown }) {
    super("the connection broke during a commit", { cause });
    this.transactionId = transactionId;
  }
}

/** A connection on loan from its pool. */
export class Session implements DatabaseConnection {
  readonly #client: PoolClient;
  #transactionId = "";
  #isBroken = false;

  constructor(client: PoolClient) {
    this.#client = client;
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const { rows, rowCount } = await this.#ask(() => this.#client.query({ text: sql, values: [...parameters] }));
    return { rows, ...(rowCount !== null && { numAffectedRows: BigInt(rowCount) }) };
  }

  // biome-ignore lint/correctness/useYield: nothing here streams
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new TypeError("streaming is not supported");
  }

  /** Begins a transaction, and learns its number, by which its outcome can be asked after. */
  async begin(isolation: IsolationLevel): Promise<void> {
    const begin = `BEGIN ISOLATION LEVEL ${isolation}; SELECT pg_current_xact_id()::text AS id`;
    const results: unknown = await this.#ask(() => this.#client.query(begin));
    const last: unknown = Array.isArray(results) ? results.at(-1) : null;
    this.#transactionId = readId(last);
  }

  async commit(): Promise<void> {
    const { command } = await this.#ask(() => this.#client.query("COMMIT")).catch((cause: unknown) => {
      throw this.#isBroken ? new CommitInDoubt(this.#transactionId, { cause }) : cause;
    });
    // So the server says that a statement before had failed.
    if (command === "ROLLBACK") throw new StoreError("failed", "the transaction had failed before its commit");
  }

  /** Never throws: a connection that cannot even roll back is dropped, which does the same. */
  async rollback(): Promise<void> {
    if (this.#isBroken) return;
    await this.#ask(() => this.#client.query("ROLLBACK")).catch(() => {
      this.#isBroken = true;
    });
  }

  /** Gives the connection back, or drops it when it is no use any more. */
  release(): void {
    this.#client.release(this.#isBroken);
  }

  async #ask<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    try {
      return await ask();
    } catch (error) {
      if (!isAnswer(error)) this.#isBroken = true;
      throw explained(error);
    }
  }
}

/** An error of the database as others know it: a storage fault, or else the error itself. */
export function explained(error: unknown): unknown {
  const fault = postgresFault(error);
  if (fault === null) return error;
  return new StoreError(fault, "the database cannot be used", { cause: error });
}

function readId(result: unknown): string {
  const rows: unknown = typeof result === "object" && result !== null && "rows" in result ? result.rows : null;
  const row: unknown = Array.isArray(rows) ? rows[0] : null;
  if (typeof row === "object" && row !== null && "id" in row && typeof row.id === "string") return row.id;
  throw new TypeError("the database did not number the transaction");
}
