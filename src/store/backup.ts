import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { replaceWithCopy } from "./copy-database.ts";
import { StoreError } from "./store-error.ts";

const KEPT = 3;

/**
 * Copies a database to a file beside it, named after the last of its migrations, before it is upgraded; answers the file.
 * An earlier copy of the same schema is replaced, and only the copies of the latest three schemas are kept.
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
  for (const old of backups.filter((file) => existsSync(file)).slice(0, -KEPT)) await rm(old);
  return backup;
}
