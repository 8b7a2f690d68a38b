import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseKey } from "../../../../src/seal/seal-key.ts";
import { stateMigrations } from "../../../../src/state/database/state-schema.ts";
import type { Ledger } from "../../../../src/state/ledger.ts";
import { crashImages } from "../../../support/crash-images.ts";
import { copyRows, firstOf, migrateLikeEarlierReleases } from "../../../support/database-schemas.ts";
import { temporaryFolder } from "../../../support/folder.ts";
import { openLedger } from "../../../support/open-ledger.ts";
import { CANARY, intent, receipt } from "../../../support/sample-ledger.ts";

const key = parseKey("11".repeat(32));
async function place() {
  const folder = await temporaryFolder();
  const path = join(folder, "ledger.db");
  return { folder, path, open: (server = "http://server") => openLedger(path, { server, key }) };
}

describe("the ledger", () => {
  test("makes digests that say nothing without its key", async () => {
    const { path, open } = await place();
    const digestIn = async (ledger: Ledger) => (await ledger.heads()).get(receipt().identity)?.digest;
    await using ledger = await open();
    await ledger.record([receipt()]);
    await using others = await openLedger(`${path}-2`, { server: "http://server", key: parseKey("22".repeat(32)) });
    await others.record([receipt()]);
    expect(await digestIn(ledger)).toEqual(expect.any(String));
    expect(await digestIn(others)).not.toBe(await digestIn(ledger));
  });

  test("has no secret in any of its files, while open and after", async () => {
    const { folder, open } = await place();
    const bytes = async () =>
      Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), "latin1")));
    {
      await using ledger = await open();
      await ledger.record([receipt()]);
      await ledger.begin(intent());
      await ledger.keepReply("intent-1", Buffer.from(`{"token":"${CANARY}"}`));
      const files = await readdir(folder);
      expect(files).toContain("ledger.db-wal");
      expect((await bytes()).join()).not.toContain(CANARY);
      expect((await bytes()).join()).not.toContain(Buffer.from(CANARY).toString("base64").slice(0, 12));
    }
    expect((await bytes()).join()).not.toContain(CANARY);
  });

  test("holds nothing of what it has stored, though no garbage was collected since", async () => {
    const { open } = await place();
    await using ledger = await open();
    const large = { ...receipt(), written: { type: "service", name: "api", text: "x".repeat(100_000) } };
    const held = () => process.memoryUsage().arrayBuffers;
    await ledger.record([large]);
    const before = held();
    for (let count = 0; count < 30; count += 1) await ledger.record([large]);
    expect(held() - before).toBeLessThan(500_000);
  });

  test("refuses another key at once, and says what to do", async () => {
    const { path, open } = await place();
    {
      await using ledger = await open();
      await ledger.record([receipt()]);
    }
    const other = openLedger(path, { server: "http://server", key: parseKey("22".repeat(32)) });
    await expect(other).rejects.toMatchObject({
      message: "the ledger was sealed with another key",
      hint: expect.stringContaining("HOLDFAST_STATE_KEY"),
    });
    await using again = await open();
    expect((await again.recorded()).size).toBe(1);
  });

  test("refuses another key also where only an intent is left", async () => {
    const { path, open } = await place();
    {
      await using ledger = await open();
      await ledger.begin(intent());
    }
    await expect(openLedger(path, { server: "x", key: parseKey("22".repeat(32)) })).rejects.toThrow("another key");
  });

  test.each([1, 2, 3])(
    "F72 has its receipts and its journal where an earlier release was killed in an upgrade from step %i",
    async (count) => {
      const newer = await place();
      {
        await using ledger = await newer.open();
        await ledger.record([receipt()]);
        await ledger.begin(intent());
      }
      await using expected = await newer.open();
      const marks = marksOf(await expected.heads());
      const older = join(await temporaryFolder(), "ledger.db");
      await migrateLikeEarlierReleases(older, firstOf(stateMigrations(), count));
      copyRows(newer.path, older);
      for (const path of await crashImages(older, () =>
        migrateLikeEarlierReleases(older, firstOf(stateMigrations(), 4)),
      )) {
        await using ledger = await openLedger(path, { server: "http://server", key });
        expect([...(await ledger.recorded()).values()]).toEqual([receipt()]);
        expect(marksOf(await ledger.heads())).toEqual(marks);
        const { id, identity, operation, manifest } = intent();
        expect(await ledger.pending()).toMatchObject([{ id, identity, operation, manifest }]);
      }
    },
  );
});

const marksOf = (heads: Awaited<ReturnType<Ledger["heads"]>>) => [...heads.values()].map(({ mark }) => mark);
