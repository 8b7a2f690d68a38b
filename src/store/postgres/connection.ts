import type { CompiledQuery, DatabaseConnection, IsolationLevel, QueryResult } from "kysely";
import { DatabaseError, type PoolClient } from "pg";
import { StoreError, type StoreErrorCode } from "../store-error.ts";
import { type CommitMarker, type CommitMarkerPool, commitWithMarker } from "./commit-markers.ts";

// SQLSTATE, by the whole code or by its class of two characters: https://www.postgresql.org/docs/current/errcodes-appendix.html
const faults: ReadonlyMap<string, StoreErrorCode> = new Map([
  ["08", "unreachable"],
  ["53", "unreachable"],
  ["57", "unreachable"],
  ["28", "denied"],
  ["3D", "absent"],
  ["55P03", "locked"],
  ["25P03", "unreachable"],
  ["25006", "inaccessible"],
  ["42501", "forbidden"],
  ["53100", "full"],
  ["58", "inaccessible"],
  ["XX001", "corrupt"],
  ["XX002", "corrupt"],
  ["22021", "unstorable"],
  ["22P05", "unstorable"],
]);

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

/** The storage error of an error of the PostgreSQL driver; null when the statement itself is wrong. */
function postgresErrorCode(error: unknown): StoreErrorCode | null {
  if (error instanceof DatabaseError) {
    const code = error.code ?? "";
    return faults.get(code) ?? faults.get(code.slice(0, 2)) ?? null;
  }
  // These are programming errors; everything else that the driver throws is a network error.
  return error instanceof TypeError || error instanceof RangeError ? null : "unreachable";
}

/** Whether the connection can be used after this error: the server reported it and did not close the connection. */
function isConnectionUsable(error: unknown): boolean {
  return error instanceof DatabaseError && error.severity !== "FATAL" && error.severity !== "PANIC";
}

/** Whether a transaction failed only because of a concurrent one and can be retried. */
export function writeConflict(error: unknown): "collision" | "duplicate" | null {
  if (!(error instanceof DatabaseError)) return null;
  if (error.code === "40001" || error.code === "40P01") return "collision";
  // A concurrent transaction inserted the same key, which was not visible to this one.
  return error.code === "23505" ? "duplicate" : null;
}
