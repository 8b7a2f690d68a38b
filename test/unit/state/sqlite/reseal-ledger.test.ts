import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { parseKey } from "../../../../src/seal/seal-key.ts";
import { resealLedger } from "../../../../src/state/sqlite/reseal-ledger.ts";
import { temporaryFolder } from "../../../support/folder.ts";
import { machine } from "../../../support/machine.ts";
import { openLedger } from "../../../support/open-ledger.ts";
import { intent, receipt } from "../../../support/sample-ledger.ts";

const [from, to] = [parseKey("11".repeat(32)), parseKey("22".repeat(32))];
const server = "http://server";

async function resealed(): Promise<string> {
  const path = join(await temporaryFolder(), "ledger.db");
  {
    await using ledger = await openLedger(path, { server, key: from });
    await ledger.record([receipt("api"), receipt("web")]);
    await ledger.begin({ ...intent(), ignored: [["replicas"]] });
    await ledger.keepReply("intent-1", Buffer.from("a reply"));
  }
  await resealLedger(path, { from, to }, machine);
  return path;
}

test("a ledger with another key has the same receipts and the same journal", async () => {
  await using ledger = await openLedger(await resealed(), { server, key: to });
  expect([...(await ledger.recorded()).values()]).toEqual([receipt("api"), receipt("web")]);
  const [pending] = await ledger.pending();
  expect(pending).toEqual({ ...intent(), ignored: [["replicas"]], reply: Buffer.from("a reply") });
  const digests = [...(await ledger.heads()).values()].map(({ digest }) => digest);
  await using other = await openLedger(join(await temporaryFolder(), "ledger.db"), { server, key: to });
  await other.record([receipt("api"), receipt("web")]);
  expect([...(await other.heads()).values()].map(({ digest }) => digest)).toEqual(digests);
});

test("every column that is sealed is sealed anew", async () => {
  using database = new DatabaseSync(await resealed(), { readOnly: true });
  const columns = database
    .prepare(
      "SELECT m.name || '.' || c.name AS column FROM sqlite_schema m, pragma_table_info(m.name) c WHERE lower(c.type) = 'blob' ORDER BY 1",
    )
    .all();
  expect(columns.map(({ column }) => column)).toEqual([
    "intent.key",
    "intent.left_alone",
    "intent.reply",
    "intent.sealed",
    "receipt.sealed",
  ]);
});
