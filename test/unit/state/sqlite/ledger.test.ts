import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Recorded } from "../../../../src/core/recorded.ts";
import { keyFrom } from "../../../../src/seal/key.ts";
import type { Intent, Ledger } from "../../../../src/state/ledger.ts";
import { contentText, type ReceiptContent } from "../../../../src/state/receipt-digest.ts";
import { migrations, openLedger } from "../../../../src/state/sqlite/ledger.ts";
import { imagesDuring } from "../../../support/database-images.ts";
import { temporaryFolder } from "../../../support/folder.ts";
import { copyRows, firstOf, migrateLikeEarlierReleases } from "../../../support/schemas.ts";

const key = keyFrom("11".repeat(32));
const CANARY = "CANARY-3f9c1d";

const receipt = (name = "api"): Recorded => ({
  identity: `service/c1:ws1/${name}`,
  kind: "service",
  id: "id-1",
  written: { type: "service", name, env: { DB_PASSWORD: CANARY } },
  echo: { type: "service", name, env: { DB_PASSWORD: CANARY }, replicas: 1 },
  version: 3,
  at: 1_700_000_000_000,
});

const intent = (id = "intent-1"): Intent => ({
  id,
  identity: "virtual-account/ci",
  kind: "virtual-account",
  operation: "putVirtualAccount",
  written: { type: "virtual-account", name: "ci", secret: CANARY },
  left: [],
  versionBefore: null,
  creates: true,
  at: 1_699_999_970_000,
  deadline: 1_700_000_000_000,
  key: `key-${CANARY}`,
});

async function place() {
  const folder = await temporaryFolder();
  const path = join(folder, "ledger.db");
  return { folder, path, open: (server = "http://server") => openLedger(path, { server, key }) };
}

describe("the ledger", () => {
  test("remembers receipts, facts and open intents when it is opened again", async () => {
    const { open } = await place();
    {
      await using ledger = await open();
      await ledger.record([receipt(), receipt("web")]);
      await ledger.open(intent());
      await ledger.rememberFacts({ routes: { listApps: "no" }, dryRun: "proven", registers: true });
    }
    await using ledger = await open();
    expect([...(await ledger.recorded()).values()]).toEqual([receipt(), receipt("web")]);
    expect(await ledger.pending()).toEqual([{ ...intent(), reply: null }]);
    expect(await ledger.facts()).toEqual({ routes: { listApps: "no" }, dryRun: "proven", registers: true });
  });

  test("tells what a receipt says without opening it, to who knows both sides and has the key", async () => {
    const { path, open } = await place();
    const { identity, written, echo } = receipt();
    const digestOf = async (ledger: Ledger) => (await ledger.heads()).get(identity)?.digest;
    await using ledger = await open();
    await ledger.record([receipt(), { ...receipt("web"), echo: null }]);
    const digest = (content: ReceiptContent) => ledger.digest(contentText(content));
    expect(await digestOf(ledger)).toBe(digest({ written, echo }));
    expect(await digestOf(ledger)).not.toBe(digest({ written: { ...written, name: "other" }, echo }));
    expect(await digestOf(ledger)).not.toBe(digest({ written, echo: { ...echo, replicas: 2 } }));
    expect((await ledger.heads()).get("service/c1:ws1/web")).not.toHaveProperty("digest");
    await using others = await openLedger(`${path}-2`, { server: "http://server", key: keyFrom("22".repeat(32)) });
    await others.record([receipt()]);
    expect(await digestOf(others)).not.toBe(await digestOf(ledger));
  });

  test("F77 remembers at which paths nothing is recorded, and which an intent leaves alone", async () => {
    const { open } = await place();
    const paths = [["env", CANARY], ["replicas"]];
    await using ledger = await open();
    await ledger.record([{ ...receipt(), unrecorded: paths }]);
    await ledger.open({ ...intent(), left: paths });
    expect([...(await ledger.recorded()).values()]).toEqual([{ ...receipt(), unrecorded: paths }]);
    expect(await ledger.pending()).toEqual([{ ...intent(), left: paths, reply: null }]);
  });

  test("F76 merges what is learned into what was known, and forgets what is said to be nothing", async () => {
    const { open } = await place();
    await using ledger = await open();
    await ledger.rememberFacts({ routes: { listApps: "no", putTeam: "yes" }, registers: true });
    await ledger.rememberFacts({ routes: { listApps: null, listTeams: "yes" }, dryRun: "proven" });
    expect(await ledger.facts()).toEqual({
      routes: { putTeam: "yes", listTeams: "yes" },
      dryRun: "proven",
      registers: true,
    });
  });

  test("F80 opens an intent in the place of others, at once", async () => {
    const { open } = await place();
    await using ledger = await open();
    await ledger.open(intent("one"));
    await ledger.open(intent("two"));
    await ledger.open(intent("three"), ["one", "two"]);
    expect((await ledger.pending()).map(({ id }) => id)).toEqual(["three"]);
  });

  test("ends an intent together with the receipt of its effect", async () => {
    const { open } = await place();
    await using ledger = await open();
    await ledger.open(intent());
    await ledger.close("intent-1", receipt());
    expect(await ledger.pending()).toEqual([]);
    expect((await ledger.recorded()).size).toBe(1);
  });

  test("keeps the newest receipt of a resource, and forgets what it is told to", async () => {
    const { open } = await place();
    await using ledger = await open();
    await ledger.record([receipt()]);
    await ledger.record([{ ...receipt(), version: 4, echo: null }]);
    expect([...(await ledger.recorded()).values()]).toEqual([{ ...receipt(), version: 4, echo: null }]);
    await ledger.forget([receipt().identity, "team/none"]);
    expect((await ledger.recorded()).size).toBe(0);
  });

  test("keeps servers apart", async () => {
    const { open } = await place();
    await using one = await open("http://one");
    await one.record([receipt()]);
    await one.rememberFacts({ routes: {}, dryRun: "ignored", registers: false });
    await using other = await open("http://other");
    expect((await other.recorded()).size).toBe(0);
    expect(await other.facts()).toEqual({ routes: {}, dryRun: "unproven", registers: null });
  });

  test("gives a reply back byte by byte, whatever it is made of", async () => {
    const { open } = await place();
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
    await using ledger = await open();
    await ledger.open(intent());
    await ledger.keepReply("intent-1", bytes);
    const [pending] = await ledger.pending();
    expect(Uint8Array.from(pending?.reply ?? [])).toEqual(bytes);
  });

  test("has no secret in any of its files, while open and after", async () => {
    const { folder, open } = await place();
    const bytes = async () =>
      Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), "latin1")));
    {
      await using ledger = await open();
      await ledger.record([receipt()]);
      await ledger.open(intent());
      await ledger.keepReply("intent-1", Buffer.from(`{"token":"${CANARY}"}`));
      const files = await readdir(folder);
      expect(files).toContain("ledger.db-wal");
      expect((await bytes()).join()).not.toContain(CANARY);
      expect((await bytes()).join()).not.toContain(Buffer.from(CANARY).toString("base64").slice(0, 12));
    }
    expect((await bytes()).join()).not.toContain(CANARY);
  });

  test("refuses another key at once, and says what to do", async () => {
    const { path, open } = await place();
    {
      await using ledger = await open();
      await ledger.record([receipt()]);
    }
    const other = openLedger(path, { server: "http://server", key: keyFrom("22".repeat(32)) });
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
      await ledger.open(intent());
    }
    await expect(openLedger(path, { server: "x", key: keyFrom("22".repeat(32)) })).rejects.toThrow("another key");
  });

  test.each([1, 2, 3])(
    "F72 has its receipts and its journal where an earlier release was killed in an upgrade from step %i",
    async (count) => {
      const newer = await place();
      {
        await using ledger = await newer.open();
        await ledger.record([receipt()]);
        await ledger.open(intent());
      }
      await using expected = await newer.open();
      const marks = marksOf(await expected.heads());
      const older = join(await temporaryFolder(), "ledger.db");
      await migrateLikeEarlierReleases(older, firstOf(migrations, count));
      copyRows(newer.path, older);
      for (const path of await imagesDuring(older, () => migrateLikeEarlierReleases(older, firstOf(migrations, 4)))) {
        await using ledger = await openLedger(path, { server: "http://server", key });
        expect([...(await ledger.recorded()).values()]).toEqual([receipt()]);
        expect(marksOf(await ledger.heads())).toEqual(marks);
        const { id, identity, operation, written } = intent();
        expect(await ledger.pending()).toMatchObject([{ id, identity, operation, written }]);
      }
    },
  );
});

const marksOf = (heads: Awaited<ReturnType<Ledger["heads"]>>) => [...heads.values()].map(({ mark }) => mark);
