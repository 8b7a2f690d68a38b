import type { CompiledQuery, DatabaseConnection, IsolationLevel, QueryResult } from "kysely";
import type { PoolClient } from "pg";
import { StoreError } from "../store-error.ts";
import { type CommitMarker, type CommitMarkerPool, commitWithMarker } from "./commit-markers.ts";
import { isConnectionUsable, postgresErrorCode } from "./error-code.ts";

/** A commit whose reply was lost: its outcome is unknown. */
export class AmbiguousCommitError extends Error {
  override readonly name = "CommitUnknown";
  readonly marker: CommitMarker;

  constructor(marker: CommitMarker, { cause }: { readonly cause: unknown }) {
    super("the connection broke during a commit", { cause });
    this.marker = marker;
  }
}

/** A connection from the pool. */
export class PostgresConnection implements DatabaseConnection {
  readonly #client: PoolClient;
  readonly #markers: CommitMarkerPool | null;
  #marker: CommitMarker | null = null;
  #isBroken = false;

  constructor(client: PoolClient, markers: CommitMarkerPool | null) {
    this.#client = client;
    this.#markers = markers;
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const { rows, rowCount } = await this.#run(() => this.#client.query({ text: sql, values: [...parameters] }));
    return { rows, ...(rowCount !== null && { numAffectedRows: BigInt(rowCount) }) };
  }

  // biome-ignore lint/correctness/useYield: nothing here streams
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new TypeError("streaming is not supported");
  }

  async begin(isolation: IsolationLevel): Promise<void> {
    await this.#run(() => this.#client.query(`BEGIN ISOLATION LEVEL ${isolation}`));
    this.#marker = this.#markers?.acquire() ?? null;
  }

  async commit(): Promise<void> {
    const marker = this.#marker;
    try {
      await this.#run(() => this.#client.query(marker === null ? "COMMIT" : commitWithMarker(marker)));
    } catch (cause) {
      if (!this.#isBroken || marker === null) throw cause;
      this.#marker = null;
      throw new AmbiguousCommitError(marker, { cause });
    }
    this.#releaseMarker();
  }

  /** Never throws: a connection that cannot roll back is closed, which rolls back too. */
  async rollback(): Promise<void> {
    this.#releaseMarker();
    if (this.#isBroken) return;
    await this.#run(() => this.#client.query("ROLLBACK")).catch(() => {
      this.#isBroken = true;
    });
  }

  /** Returns the connection to the pool, or closes it when it is broken. */
  release(): void {
    this.#client.release(this.#isBroken);
  }

  #releaseMarker(): void {
    if (this.#marker !== null) this.#markers?.release(this.#marker);
    this.#marker = null;
  }

  async #run<Result>(query: () => Promise<Result>): Promise<Result> {
    try {
      return await query();
    } catch (error) {
      if (!isConnectionUsable(error)) this.#isBroken = true;
      throw toStoreError(error);
    }
  }
}

/** Translates an error of the driver into a StoreError; other errors are returned as they are. */
export function toStoreError(error: unknown): unknown {
  const fault = postgresErrorCode(error);
  if (fault === null) return error;
  return new StoreError(fault, "the database cannot be used", { cause: error });
}
