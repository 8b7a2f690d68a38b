import { closeSync, constants, openSync, statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { sql } from "kysely";
import { hasOwnDatabase } from "../files/database-files.ts";
import { UnsafePathError } from "../files/unsafe-path.ts";
import { CommitQueue } from "./commit-queue.ts";
import { connect } from "./connect.ts";
import { type Migrations, migrate, requireSchema, type SchemaCare } from "./migrate.ts";
import { queries } from "./sqlite.ts";
import type { Store } from "./store.ts";
import { StoreError, type StoreFault, storeFault, whyUnusable } from "./store-error.ts";

/**
 * Opens a SQLite file, making it when absent, and brings its schema up to date; or opens one as it is, beside the process
 * that may be using it.
 */
export async function openStore<Tables>(
  path: string,
  migrations: Migrations,
  { schema = "migrate" }: { readonly schema?: SchemaCare } = {},
): Promise<Store<Tables>> {
  try {
    return await open(path, migrations, schema);
  } catch (error) {
    throw explained(path, error);
  }
}

const FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK;

async function open<Tables>(path: string, migrations: Migrations, schema: SchemaCare): Promise<Store<Tables>> {
  if (!hasOwnDatabase(path) && schema === "leave") throw new StoreError("absent", `${path} is not there`);
  // Made by us, for its owner alone: SQLite gives its log beside it the same rights.
  closeSync(openSync(path, FLAGS, 0o600));
  const writer = queries<Tables>(connect(path));
  let reading: DatabaseSync | null = null;
  try {
    await (schema === "leave" ? requireSchema : migrate)(writer, migrations);
    // A connection of its own keeps reads from seeing what is not committed yet.
    reading = connect(path, { readOnly: true });
  } catch (error) {
    await writer.destroy();
    throw error;
  }
  const read = queries<Tables>(reading);
  const isInPlace = placeOf(path);
  const changes = new CommitQueue(writer, () => {
    if (!isInPlace()) throw new StoreError("inaccessible", `${path} was replaced or removed while it was in use`);
  });
  const close = async () => {
    await changes.close();
    // Kysely closes only what was used.
    if (reading?.isOpen === true) reading.close();
    await writer.destroy();
  };
  return {
    read,
    write: (change) => changes.add(change),
    time: async () => Date.now(),
    commits: () => changes.commits,
    isShared: false,
    isWritable: async () => {
      await sql`SELECT count(*) FROM sqlite_schema`.execute(read);
      return isInPlace();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

// Whoever removes the file, or puts another one in its place, does not stop SQLite from writing to the one that is gone.
function placeOf(path: string): () => boolean {
  const opened = statSync(path);
  return () => {
    const found = statSync(path, { throwIfNoEntry: false });
    return found?.ino === opened.ino && found.dev === opened.dev;
  };
}

const reasons: { readonly [fault in StoreFault]?: string } = {
  locked: "another process is using it",
  corrupt: "it is damaged, or not a database",
  "newer-schema": "a newer release made it",
  "older-schema": "an older release made it, and it has not been brought up to date",
  absent: "there is no such file",
};

/** An error on opening a database, as what is wrong with which file. */
export function explained(path: string, error: unknown): Error {
  if (error instanceof UnsafePathError) return error;
  const code = storeFault(error) ?? "failed";
  const why = code === "inaccessible" ? whyUnusable(error) : (reasons[code] ?? "it could not be opened");
  return new StoreError(code, `${path}: ${why}`, { cause: error });
}
