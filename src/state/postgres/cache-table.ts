import { type Kysely, sql } from "kysely";
import type { Clock } from "../../clock/clock.ts";
import type { Secret } from "../../contract/secret.ts";
import { sealChunks, unseal } from "../../seal/seal.ts";
import type { SealKey } from "../../seal/seal-key.ts";
import { toStoreError } from "../../store/postgres/connection.ts";
import { databaseError } from "../../store/postgres/open.ts";
import { unlessStopped } from "../../store/postgres/unless-stopped.ts";
import type { Store } from "../../store/store.ts";
import { MARK_BYTES, type StateTables } from "../database/state-schema.ts";
import type { StateCache } from "../state.ts";

/** Creates the table of the caches. It is not in the write-ahead log: a database that crashes loses nothing with it. */
export async function createCacheTable(database: Kysely<unknown>): Promise<void> {
  await sql`CREATE UNLOGGED TABLE cache (
    about text COLLATE "C" PRIMARY KEY,
    mark text NOT NULL,
    written_at timestamptz NOT NULL DEFAULT now(),
    sealed bytea NOT NULL
  )`.execute(database);
  // What is sealed cannot be compressed, and is read in parts.
  await sql`ALTER TABLE cache ALTER COLUMN sealed SET STORAGE EXTERNAL`.execute(database);
}

// A run does without its cache rather than wait for a database that does not answer.
const ANSWER_MS = 10_000;

// PostgreSQL sends it as text of twice the size.
const PART_BYTES = 4 * 1024 * 1024;

/** The place of a cache in a database. */
export type CachePlace = {
  readonly address: Secret;
  readonly key: SealKey;
  /** What it is about: another build and another control plane have others. */
  readonly about: string;
  readonly clock: Clock;
  readonly stopping: AbortSignal | undefined;
};

/**
 * A cache in a table, which all processes share. It is written without the number of the lock: what a process that has lost
 * the lock writes is older, and as true, since its digests are compared with those of now.
 */
export function cacheTable(
  store: Store<StateTables>,
  { address, key, about, clock, stopping }: CachePlace,
): StateCache {
  // The mark of what was read or written here last.
  let known = "";
  const limited = <Result>(asked: Promise<Result>): Promise<Result> => {
    const signals = [clock.timeout(ANSWER_MS), stopping].filter((one) => one !== undefined);
    return unlessStopped(asked, { address, signal: AbortSignal.any(signals), clock });
  };
  return {
    readNew: async () => {
      try {
        const found = await limited(readOther(store.read, { about, known }));
        if (found === null) return null;
        const text = unseal(key, found.sealed, about).toString("utf8");
        known = found.mark;
        return text;
      } catch {
        return null;
      }
    },
    write: async (content) => {
      const sealed = Buffer.concat([...sealChunks(key, content, about)]);
      const mark = sealed.toString("hex", 0, MARK_BYTES);
      try {
        await limited(store.write((transaction) => replace(transaction, { about, mark, sealed })));
        known = mark;
        return null;
      } catch (error) {
        return databaseError(address, toStoreError(error)).message;
      }
    },
  };
}

type Row = { readonly about: string; readonly mark: string; readonly sealed: Buffer };

/** The content with another mark than the known one; null if there is none. */
async function readOther(
  database: Kysely<StateTables>,
  { about, known }: { readonly about: string; readonly known: string },
): Promise<Pick<Row, "mark" | "sealed"> | null> {
  const { rows } = await sql<{ mark: string; bytes: number; part: Buffer }>`
    SELECT mark, octet_length(sealed) AS bytes, substr(sealed, 1, ${PART_BYTES}) AS part
    FROM cache WHERE about = ${about} AND mark <> ${known}`.execute(database);
  const [first] = rows;
  if (first === undefined) return null;
  const { mark, bytes } = first;
  const parts = [first.part];
  for (let start = PART_BYTES; start < bytes; start += PART_BYTES) {
    const { rows: next } = await sql<{ part: Buffer }>`
      SELECT substr(sealed, ${start + 1}, ${PART_BYTES}) AS part
      FROM cache WHERE about = ${about} AND mark = ${mark}`.execute(database);
    // Another process has just replaced it.
    if (next[0] === undefined) return null;
    parts.push(next[0].part);
  }
  return { mark, sealed: Buffer.concat(parts) };
}

// Nobody else replaces what a former build, or one with another control plane, has left.
async function replace(database: Kysely<StateTables>, { about, mark, sealed }: Row): Promise<void> {
  await sql`
    INSERT INTO cache (about, mark, sealed) VALUES (${about}, ${mark}, ${sealed})
    ON CONFLICT (about) DO UPDATE SET mark = excluded.mark, sealed = excluded.sealed, written_at = now()`.execute(
    database,
  );
  await sql`DELETE FROM cache WHERE written_at < now() - interval '1 day'`.execute(database);
}
