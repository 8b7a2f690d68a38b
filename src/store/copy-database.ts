import { randomUUID } from "node:crypto";
import { closeSync, constants, fsyncSync, openSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { ownDatabaseExists } from "../files/database-files.ts";
import { lstatOrNull } from "../files/lstat.ts";
import { openConnection } from "./open-connection.ts";
import { StoreError, storeErrorCode } from "./store-error.ts";

/**
 * Copies a SQLite database as it is at one moment, while others read and write it; the copy is a file that was not there
 * before, sound and on the disk. It takes one turn of the thread, however long that is.
 */
export async function copyDatabase(path: string, to: string): Promise<void> {
  if (!ownDatabaseExists(path)) throw new StoreError("absent", `${path}: there is no such file`);
  // A link counts, wherever it leads.
  if (lstatOrNull(to) !== null) throw new StoreError("inaccessible", `${to} is there already`);
  // Whatever an attempt that was killed has left does not stand in the way of the next one.
  await copyThrough(`${to}.${randomUUID()}.unfinished`, path, to);
}

/** Copies a SQLite database like `copyDatabase`, in place of a file that may be there; nobody else may do so meanwhile. */
export async function replaceWithCopy(path: string, to: string): Promise<void> {
  const unfinished = `${to}.unfinished`;
  await rm(unfinished, { force: true });
  await copyThrough(unfinished, path, to);
}

async function copyThrough(unfinished: string, path: string, to: string): Promise<void> {
  try {
    // Made by us first, for its owner alone: SQLite fills an empty file, and leaves its mode.
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
  using source = openConnection(path);
  source.prepare("VACUUM INTO ?").run(copy);
  using made = new DatabaseSync(copy, { readOnly: true });
  const [first] = made.prepare("PRAGMA quick_check(1)").all();
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
