import { existsSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import type { Transaction } from "kysely";
import { describe, expect, onTestFinished, test } from "vitest";
import { openSqliteStore } from "../../../../src/store/sqlite/open.ts";
import { openSqliteReadOnly } from "../../../../src/store/sqlite/open-read-only.ts";
import { storeErrorCode } from "../../../../src/store/store-error.ts";
import { temporaryFolder } from "../../../support/folder.ts";
import { machine } from "../../../support/machine.ts";
import { migrations, type Tables } from "../notes.ts";

const { clock } = machine;

const note = (transaction: Transaction<Tables>) =>
  transaction.insertInto("notes").values({ id: 1, text: "a note" }).execute();

async function written() {
  const path = join(await temporaryFolder(), "a.db");
  const store = await openSqliteStore<Tables>(path, migrations, machine);
  onTestFinished(() => store.close());
  await store.write(note);
  return { path, store };
}

describe("F82 a store that is only read", () => {
  test("F82 shows what was written, also while another process has it open, and accepts no writes", async () => {
    const { path, store } = await written();
    for (const close of [async () => undefined, () => store.close()]) {
      await close();
      await using readOnly = await openSqliteReadOnly<Tables>(path, migrations, clock);
      expect(await readOnly.read.selectFrom("notes").select("text").execute()).toEqual([{ text: "a note" }]);
      expect(await readOnly.write(note).catch(storeErrorCode)).toBe("inaccessible");
    }
  });

  test("F82 is refused when it needs a migration, or is no database", async () => {
    const { path, store } = await written();
    await store.close();
    const later = { ...migrations, "9999-later": { up: async () => undefined } };
    await expect(openSqliteReadOnly(path, later, clock)).rejects.toMatchObject({ code: "older-schema" });
    const other = `${path}-copy`;
    await expect(openSqliteReadOnly(other, migrations, clock)).rejects.toMatchObject({ code: "inaccessible" });
    expect(existsSync(other)).toBe(false);
    await copyFile(import.meta.filename, other);
    await expect(openSqliteReadOnly(other, migrations, clock)).rejects.toMatchObject({ code: "corrupt" });
  });
});
