import { closeSync, constants, openSync, statSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { sql } from "kysely";
import type { Clock } from "../../clock/clock.ts";
import { ownDatabaseExists } from "../../files/own-database.ts";
import { UnsafePathError } from "../../files/unsafe-path-error.ts";
import { type Migrations, requireSchema, type SchemaMode } from "../migrate.ts";
import type { Store } from "../store.ts";
import { StoreError, type StoreErrorCode, storageErrorAt, storageErrorText, storeErrorCode } from "../store-error.ts";
import { CommitQueue } from "./commit-queue.ts";
import { openSqliteConnection } from "./open-connection.ts";
import { queryBuilder, queryBuilderOver } from "./query-builder.ts";
import { reopening, type SqliteUse, stayingOpen } from "./reopening-connection.ts";
import { isCurrent, upgradeSchema } from "./upgrade-schema.ts";

/** How a SQLite file is opened. */
export type OpenOptions = {
  readonly clock: Clock;
  /** @default "migrate" */
  readonly schema?: SchemaMode;
  /** Whether the file is closed while nothing uses it, for a process that has hundreds of them. @default false */
  readonly closesIdle?: boolean;
  /** Called with what the operator should know: the file was upgraded, and where its backup is. */
  readonly notify?: (notice: string) => void;
};

/**
 * Opens a SQLite file, creates it when absent, and migrates its schema; or opens it as it is, while another process may
 * be using it.
 */
export async function openSqliteStore<Tables>(
  path: string,
  migrations: Migrations,
  options: OpenOptions,
): Promise<Store<Tables>> {
  try {
    return await open(path, migrations, options);
  } catch (error) {
    throw openError(path, error);
  }
}

const FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK;

async function open<Tables>(
  path: string,
  migrations: Migrations,
  { clock, schema = "migrate", closesIdle = false, notify = () => {} }: OpenOptions,
): Promise<Store<Tables>> {
  if (!ownDatabaseExists(path) && schema === "leave") throw new StoreError("absent", `${path} does not exist`);
  // Created with mode 0600 first: SQLite gives its other files the same mode.
  closeSync(openSync(path, FLAGS, 0o600));
  using opening = new DisposableStack();
  const writing = openSqliteConnection(path);
  opening.defer(() => {
    if (writing.isOpen) writing.close();
  });
  if (schema === "leave") {
    if (!isCurrent(writing, migrations)) await requireSchema(queryBuilder(writing), migrations);
  } else {
    const notice = await upgradeSchema(writing, path, migrations, clock);
    if (notice !== null) notify(notice);
  }
  const isInPlace = placeOf(path);
  const requireInPlace = (): void => {
    if (!isInPlace()) throw new StoreError("inaccessible", `${path} was replaced or removed while it was in use`);
  };
  const useOf = (opened: DatabaseSync, readOnly: boolean): SqliteUse => {
    if (!closesIdle) return opening.use(stayingOpen(opened));
    const open = (): DatabaseSync => {
      requireInPlace();
      return openSqliteConnection(path, { readOnly });
    };
    return opening.use(reopening(opened, open, clock));
  };
  const writer = queryBuilderOver<Tables>(useOf(writing, false));
  // Reads have their own connection, so that they do not see uncommitted changes.
  const read = queryBuilderOver<Tables>(useOf(openSqliteConnection(path, { readOnly: true }), true));
  const connections = opening.move();
  const changes = new CommitQueue(writer, clock, requireInPlace);
  const close = async () => {
    await changes.close();
    connections.dispose();
  };
  return {
    read,
    write: (change) =>
      changes.add(change).catch((error: unknown) => {
        throw writeError(path, error);
      }),
    time: async () => clock.now(),
    commits: () => changes.commits,
    isShared: false,
    unwritable: async () => {
      if (!isInPlace()) return "inaccessible";
      await sql`SELECT count(*) FROM sqlite_schema`.execute(read);
      if (!(await hasFreeSpace(path))) return "full";
      return changes.isFull ? tryWrite(changes) : null;
    },
    connections: () => [],
    close,
    [Symbol.asyncDispose]: close,
  };
}

// An error of SQLite names neither the file nor, on a full disk, the cause.
function writeError(path: string, error: unknown): unknown {
  const code = storeErrorCode(error);
  if (code === null || error instanceof StoreError) return error;
  return new StoreError(code, storageErrorAt(path, error), { cause: error });
}

// The number is not used; setting it writes a page even when it stays the same.
const writePage = sql.raw("PRAGMA user_version = 0");

async function tryWrite<Tables>(changes: CommitQueue<Tables>): Promise<StoreErrorCode | null> {
  try {
    await changes.add((transaction) => writePage.execute(transaction));
    return null;
  } catch (error) {
    return storeErrorCode(error) ?? "failed";
  }
}

// When the file is removed or replaced, SQLite goes on writing to the deleted one.
function placeOf(path: string): () => boolean {
  const opened = statSync(path);
  return () => {
    const found = statSync(path, { throwIfNoEntry: false });
    return found?.ino === opened.ino && found.dev === opened.dev;
  };
}

const reasons: { readonly [fault in StoreErrorCode]?: string } = {
  locked: "another process is using it",
  corrupt: "it is damaged, or not a database",
  "newer-schema": "it was written by a newer release",
  "older-schema": "it was written by an older release and has not been upgraded",
  empty: "its first start has not ended, or was interrupted: it is still empty",
  absent: "there is no such file",
};

/** Translates an error on opening a database into one that names the file and the cause. */
export function openError(path: string, error: unknown): Error {
  if (error instanceof UnsafePathError) return error;
  const code = storeErrorCode(error) ?? "failed";
  return new StoreError(code, `${path}: ${reasonOf(code, error)}`, { cause: error });
}

function reasonOf(code: StoreErrorCode, error: unknown): string {
  if (code === "inaccessible" || code === "full") return storageErrorText(error);
  if (error instanceof StoreError && code === "no-backup") return error.message;
  return reasons[code] ?? "it could not be opened";
}

// One ordinary write needs less, the database's log included.
const MIN_BYTES = 65_536;

// Whether the file system of a file has free space. Quotas and process limits show only when a write fails.
async function hasFreeSpace(path: string): Promise<boolean> {
  const { blocks, bfree, bavail, bsize } = await statfs(dirname(path));
  // Some file systems report no numbers.
  if (blocks === 0) return true;
  // Some blocks are reserved for root.
  const free = process.getuid?.() === 0 ? bfree : bavail;
  return free * bsize >= MIN_BYTES;
}
