import type { CompiledQuery, DatabaseConnection, IsolationLevel, QueryResult } from "kysely";
import type { PoolClient } from "pg";
import { StoreError } from "../store-error.ts";
import { type CommitMarker, type CommitMarkerPool, commitWithMarker } from "./commit-markers.ts";
import { isConnectionUsable, postgresErrorCode } from "./error-codes.ts";

/** A commit whose answer was lost: only the database knows what became of it. */
export class AmbiguousCommitError extends Error {
  override readonly name = "CommitUnknown";
  readonly mark: CommitMarker;

  constructor(mark: CommitMarker, { cause }: { readonly cause: unknown }) {
    super("the connection broke during a commit", { cause });
    this.mark = mark;
  }
}

/** A connection on loan from its pool. */
export class PostgresConnection implements DatabaseConnection {
  readonly #client: PoolClient;
  readonly #marks: CommitMarkerPool | null;
  #mark: CommitMarker | null = null;
  #isBroken = false;

  constructor(client: PoolClient, marks: CommitMarkerPool | null) {
    this.#client = client;
    this.#marks = marks;
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const { rows, rowCount } = await this.#ask(() => this.#client.query({ text: sql, values: [...parameters] }));
    return { rows, ...(rowCount !== null && { numAffectedRows: BigInt(rowCount) }) };
  }

  // biome-ignore lint/correctness/useYield: nothing here streams
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new TypeError("streaming is not supported");
  }

  async begin(isolation: IsolationLevel): Promise<void> {
    await this.#ask(() => this.#client.query(`BEGIN ISOLATION LEVEL ${isolation}`));
    this.#mark = this.#marks?.take() ?? null;
  }

  async commit(): Promise<void> {
    const mark = this.#mark;
    try {
      await this.#ask(() => this.#client.query(mark === null ? "COMMIT" : commitWithMarker(mark)));
    } catch (cause) {
      if (!this.#isBroken || mark === null) throw cause;
      this.#mark = null;
      throw new AmbiguousCommitError(mark, { cause });
    }
    this.#giveBackMark();
  }

  /** Never throws: a connection that cannot even roll back is dropped, which does the same. */
  async rollback(): Promise<void> {
    this.#giveBackMark();
    if (this.#isBroken) return;
    await this.#ask(() => this.#client.query("ROLLBACK")).catch(() => {
      this.#isBroken = true;
    });
  }

  /** Gives the connection back, or drops it when it is no use any more. */
  release(): void {
    this.#client.release(this.#isBroken);
  }

  #giveBackMark(): void {
    if (this.#mark !== null) this.#marks?.giveBack(this.#mark);
    this.#mark = null;
  }

  async #ask<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    try {
      return await ask();
    } catch (error) {
      if (!isConnectionUsable(error)) this.#isBroken = true;
      throw toStoreError(error);
    }
  }
}

/** An error of the database as others know it: a storage fault, or else the error itself. */
export function toStoreError(error: unknown): unknown {
  const fault = postgresErrorCode(error);
  if (fault === null) return error;
  return new StoreError(fault, "the database cannot be used", { cause: error });
}
