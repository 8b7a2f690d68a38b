import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { recordedNames } from "../../../../src/state/sqlite/recorded-names.ts";
import { temporaryFolder } from "../../../support/folder.ts";

test("a damaged ledger is named when its resources are listed", async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "ledger.db"), "no database", { mode: 0o600 });
  expect(() => recordedNames(folder)).toThrow(`${folder}/ledger.db: it is damaged, or not a database`);
});
