import { join } from "node:path";
import { expect, test } from "vitest";
import { generateKey } from "../../../src/seal/seal-key.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { openLedger } from "../../support/open-ledger.ts";
import { intent, receipt } from "../../support/sample-ledger.ts";

const opened = async () =>
  openLedger(join(await temporaryFolder(), "ledger.db"), { server: "http://server", key: generateKey() });

test("the journal takes no intent of another kind than its resource has, and none without a deadline", async () => {
  await using ledger = await opened();
  await expect(ledger.begin({ ...intent(), kind: "team" })).rejects.toThrow("at the journal");
  await expect(ledger.begin({ ...intent(), deadline: Number.NaN })).rejects.toThrow("at the journal");
  expect(await ledger.pending()).toEqual([]);
});

test("the ledger closes an intent with a receipt of its resource alone", async () => {
  await using ledger = await opened();
  await ledger.begin(intent());
  await expect(ledger.close(intent().id, receipt())).rejects.toThrow("at the ledger");
  await expect(ledger.begin({ ...intent("other"), identity: "virtual-account/x" }, [intent().id])).rejects.toThrow(
    "at the ledger",
  );
  expect(await ledger.pending()).toHaveLength(1);
  expect((await ledger.recorded()).size).toBe(0);
});

test("no receipt is stored that has another kind than its resource", async () => {
  await using ledger = await opened();
  await expect(ledger.record([{ ...receipt(), kind: "team" }])).rejects.toThrow("at the receipt");
  expect((await ledger.recorded()).size).toBe(0);
});
