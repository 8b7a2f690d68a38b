import { readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openSqliteConnection } from "../../../../src/store/sqlite/open-connection.ts";
import { temporaryFolder } from "../../../support/folder.ts";

const FULL = 2;
const MEMORY = 2;

test("F32 a connection flushes what it commits to the disk", async () => {
  const database = openSqliteConnection(join(await temporaryFolder(), "ledger.db"));
  try {
    expect(database.prepare("PRAGMA synchronous").get()).toEqual({ synchronous: FULL });
    expect(database.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
  } finally {
    database.close();
  }
});

test("a connection keeps what a change would have to undo in memory, and in no file elsewhere", async () => {
  const folder = await temporaryFolder();
  const database = openSqliteConnection(join(folder, "ledger.db"));
  try {
    expect(database.prepare("PRAGMA temp_store").get()).toEqual({ temp_store: MEMORY });
    database.exec("CREATE TABLE page (id INTEGER PRIMARY KEY, text TEXT); INSERT INTO page VALUES (0, '')");
    database.exec("BEGIN; SAVEPOINT change");
    const add = database.prepare("INSERT INTO page VALUES (?, ?)");
    for (let id = 1; id <= 200; id += 1) add.run(id, "x".repeat(4_000));
    database.exec("SAVEPOINT next; UPDATE page SET text = 'y'");
    expect(openFiles().filter((path) => !path.startsWith(folder))).toEqual([]);
    database.exec("ROLLBACK TO next; COMMIT");
    expect(database.prepare("SELECT count(*) AS rows FROM page WHERE text = 'y'").get()).toEqual({ rows: 0 });
  } finally {
    database.close();
  }
});

/** The files that SQLite has open, those included that are gone from their folders. */
function openFiles(): readonly string[] {
  const paths = readdirSync("/proc/self/fd").flatMap((fd) => linkOf(fd) ?? []);
  return paths.filter((path) => /ledger\.db|etilqs/.test(path));
}

function linkOf(fd: string): string | null {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    // The listing's own, which is closed by now.
    return null;
  }
}
