import { join } from "node:path";
import { expect, test } from "vitest";
import { openSqliteConnection } from "../../../../src/store/sqlite/open-connection.ts";
import { temporaryFolder } from "../../../support/folder.ts";

const FULL = 2;

test("F32 a connection flushes what it commits to the disk", async () => {
  const database = openSqliteConnection(join(await temporaryFolder(), "ledger.db"));
  try {
    expect(database.prepare("PRAGMA synchronous").get()).toEqual({ synchronous: FULL });
    expect(database.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
  } finally {
    database.close();
  }
});
