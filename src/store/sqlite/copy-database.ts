import { closeSync, constants, fsyncSync, openSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Random } from "../../clock/random.ts";
import { lstatOrNull } from "../../files/lstat-or-null.ts";
import { ownDatabaseExists } from "../../files/own-database.ts";
import { StoreError, storeErrorCode } from "../store-error.ts";
import { openSqliteConnection } from "./open-connection.ts";

/**
 * Copies a SQLite database to a new file as a consistent snapshot, while others read and write it. The copy is checked
 * and synced. It blocks the thread until it is done.
 */
export async function copyDatabase(path: string, to: string, random: Random): Promise<void> {
  if (!ownDatabaseExists(path)) throw new StoreError("absent", `${path}: there is no such file`);
  // A link counts as existing.
  if (lstatOrNull(to) !== null) throw new StoreError("inaccessible", `${to} exists already`);
  // A random name: the file of a killed attempt must not block the next one.
  await copyThrough(`${to}.${random.id()}.unfinished`, path, to);
}

/** Copies a SQLite database and replaces the target; no other process may do so at the same time. */
export async function replaceWithCopy(path: string, to: string): Promise<void> {
  const unfinished = `${to}.unfinished`;
  await rm(unfinished, { force: true });
  await copyThrough(unfinished, path, to);
}

async function copyThrough(unfinished: string, path: string, to: string): Promise<void> {
  try {
    // Created with mode 0600 first: SQLite fills an empty file and leaves its mode.
    closeSync(openSync(unfinished, "wx", 0o600));
    fill(unfinished, path);
    flush(unfinished);
    await rename(unfinished, to);
    flush(dirname(to));
  } catch (cause) {
    await rm(unfinished, { force: true });
    const why = cause instanceof Error ? `: ${cause.message}` : "";
    throw new StoreError(storeErrorCode(cause) ?? "failed", `${path} could not be copied to ${to}${why}`, { cause });
  }
}

function fill(copy: string, path: string): void {
  using source = openSqliteConnection(path);
  source.prepare("VACUUM INTO ?").run(copy);
  using copied = new DatabaseSync(copy, { readOnly: true });
  const [first] = copied.prepare("PRAGMA quick_check(1)").all();
  if (first?.quick_check !== "ok") throw new StoreError("corrupt", `${path}: it is damaged`);
}

function flush(path: string): void {
  const file = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
