import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { replaceWithCopy } from "./copy-database.ts";
import { StoreError } from "./store-error.ts";

const MAX_BACKUPS = 3;

/**
 * Copies a database before an upgrade to a file in the same folder, named after its last migration; returns the file. A
 * backup of the same schema is replaced; only the backups of the latest three schemas stay.
 */
export async function backUpBeforeUpgrade(path: string, applied: readonly string[]): Promise<string> {
  const backups = applied.map((name) => `${path}.${name}.backup`);
  const backup = backups.at(-1) ?? `${path}.backup`;
  try {
    await replaceWithCopy(path, backup);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new StoreError("no-backup", `it was not upgraded, since ${why}`, { cause });
  }
  for (const old of backups.filter((file) => existsSync(file)).slice(0, -MAX_BACKUPS)) await rm(old);
  return backup;
}
