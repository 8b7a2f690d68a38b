import { rmSync } from "node:fs";
import { cp, mkdir, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { migrations as controlPlane } from "../../src/server/database/migrations.ts";
import { stateMigrations } from "../../src/state/database/state-schema.ts";
import type { Migrations } from "../../src/store/migrate.ts";
import { crashImages } from "../support/crash-images.ts";
import { copyRows, firstOf, migrateLikeEarlierReleases } from "../support/database-schemas.ts";
import { temporaryFolder } from "../support/folder.ts";
import { everyKind } from "../support/manifests.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

const plan = ["plan", "--embedded"];
const unchanged = { code: 0, stdout: "Plan: nothing to do, 8 unchanged\n" };

/** Ends the process, as a kill does, before the nth statement that SQLite runs in it. */
function killedAtStatement(nth: number): { readonly NODE_OPTIONS: string } {
  const script = `
    import { DatabaseSync, StatementSync } from "node:sqlite";
    let count = 0;
    for (const [prototype, names] of [[DatabaseSync.prototype, ["exec"]], [StatementSync.prototype, ["run", "all", "get"]]]) {
      for (const name of names) {
        const original = prototype[name];
        prototype[name] = function (...given) {
          count += 1;
          if (count === ${nth}) process.kill(process.pid, "SIGKILL");
          return original.apply(this, given);
        };
      }
    }`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` };
}

describe("F72 a first start", () => {
  test.each([1, 10, 60, 150])("that is killed at SQLite's statement %i is followed by one that works", async (nth) => {
    const source = await sourceOf(everyKind);
    const killed = await source.run(plan, killedAtStatement(nth));
    expect(killed.signal).toBe("SIGKILL");
    expect(await source.runHere(plan)).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^embedded control plane at .*\n$/),
    });
  });

  test.each([0, 8, 400, 950])(
    "that has room for files of %i blocks says where, and works once there is more",
    async (blocks) => {
      const source = await sourceOf(everyKind);
      const refused = await source.runWithin(blocks, plan);
      expect(refused).toMatchObject({ code: 1, stdout: "" });
      expect(refused.stderr).toMatch(
        /^error: .*\.holdfast\/.*(?:space|EFBIG|reading or writing failed|disk I\/O error)/m,
      );
      expect(refused.stderr).not.toMatch(/a fault of holdfast|rollback/);
      expect(await source.runHere(plan)).toMatchObject({ code: 0 });
    },
  );

  test.each([8, 90])(
    "of a ledger that has room for %i blocks leaves nothing in the way of the next",
    async (blocks) => {
      const server = await serve();
      const source = await sourceOf(everyKind, server);
      const first = await source.runWithin(blocks, ["plan"]);
      expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining("8 to create") });
      expect(first.stderr).toMatch(/^warning: .* is not remembered for the next run: .*\.holdfast/m);
      const applied = { code: 0, stdout: expect.stringContaining("8 created") };
      expect(await source.runHere(["apply", "--yes"])).toMatchObject(applied);
    },
  );
});

test("F72 small files that an earlier release left empty when it was killed are made anew", async () => {
  const source = await sourceOf(everyKind);
  const files = [".gitignore", "key", "control-plane/server-key", "control-plane/admin-token"];
  await mkdir(join(source.folder, ".holdfast/control-plane"), { recursive: true, mode: 0o700 });
  for (const file of files) await writeFile(join(source.folder, ".holdfast", file), "", { mode: 0o600 });
  const apply = ["apply", "--embedded", "--yes"];
  expect(await source.runHere(apply)).toMatchObject({ code: 0, stdout: expect.stringContaining("8 created") });
  expect(await source.runHere(apply)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("\nApplied: 8 unchanged\n"),
  });
  for (const file of files) expect((await stat(join(source.folder, ".holdfast", file))).size).toBeGreaterThan(0);
});

/** A source that is applied, with both databases as a release with so many steps of their schemas would have left them. */
async function appliedByEarlierRelease(steps: { readonly ledger: number; readonly controlPlane: number }) {
  const source = await sourceOf(everyKind);
  expect(await source.runHere(["apply", "--embedded", "--yes"])).toMatchObject({ code: 0 });
  const paths = {
    ledger: join(source.folder, ".holdfast/ledger.db"),
    controlPlane: join(source.folder, ".holdfast/control-plane/control-plane.db"),
  };
  await makeOlder(paths.ledger, firstOf(stateMigrations(), steps.ledger));
  await makeOlder(paths.controlPlane, firstOf(controlPlane, steps.controlPlane));
  return { source, paths };
}

async function makeOlder(path: string, migrations: Migrations): Promise<void> {
  const older = join(await temporaryFolder(), "older.db");
  await migrateLikeEarlierReleases(older, migrations);
  copyRows(path, older);
  await cp(older, path);
}

describe("F72 an upgrade", () => {
  test("keeps what was recorded, and names the backups once", async () => {
    const { source, paths } = await appliedByEarlierRelease({ ledger: 2, controlPlane: 2 });
    const upgraded = await source.runHere(plan);
    expect(upgraded).toMatchObject(unchanged);
    expect(upgraded.stderr).toContain(
      `${paths.ledger} was upgraded; its backup is ${paths.ledger}.002-intent-key.backup`,
    );
    expect(upgraded.stderr).toContain(`${paths.controlPlane}.0010-exactly-once.backup`);
    const again = await source.runHere(plan);
    expect(again).toMatchObject(unchanged);
    expect(again.stderr).not.toContain("backup");
  });

  test("that an earlier release left half made is completed, and receipts, journal and resources are there", async () => {
    const { source, paths } = await appliedByEarlierRelease({ ledger: 1, controlPlane: 2 });
    const images = {
      ledger: await halfMade(paths.ledger, firstOf(stateMigrations(), 4)),
      controlPlane: await halfMade(paths.controlPlane, firstOf(controlPlane, 3)),
    };
    for (let nth = 1; nth < 6; nth += 1) {
      await putInPlace(images.ledger, nth, paths.ledger);
      await putInPlace(images.controlPlane, nth, paths.controlPlane);
      expect(await source.runHere(plan)).toMatchObject(unchanged);
    }
  });

  test("without room stops a plan, which would else know nothing of what is recorded", async () => {
    const server = await serve();
    const source = await sourceOf(everyKind, server);
    expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
    const path = join(source.folder, ".holdfast/ledger.db");
    await makeOlder(path, firstOf(stateMigrations(), 3));
    const refused = await source.runWithin(8, ["plan"]);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain(`${path}: it was written by an older release and has not been upgraded`);
    expect(await source.runHere(["plan"])).toMatchObject(unchanged);
  });

  test("that is killed, or has no room, is made by the next start", async () => {
    const { source, paths } = await appliedByEarlierRelease({ ledger: 3, controlPlane: 2 });
    const refused = await source.runWithin(700, plan);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toMatch(/^error: the control plane does not start: .*control-plane\.db: /m);
    for (const nth of [5, 15, 25]) {
      expect((await source.run(plan, killedAtStatement(nth))).signal).toBe("SIGKILL");
    }
    const upgraded = await source.runHere(plan);
    expect(upgraded).toMatchObject(unchanged);
    expect(upgraded.stderr).toContain(`${paths.controlPlane}.0010-exactly-once.backup`);
  });
});

/** What an earlier release could leave of a database when it was killed in an upgrade. */
function halfMade(path: string, migrations: Migrations): Promise<readonly string[]> {
  return crashImages(path, () => migrateLikeEarlierReleases(path, migrations));
}

async function putInPlace(images: readonly string[], nth: number, path: string): Promise<void> {
  const image = images[Math.min(nth, images.length - 1)] ?? path;
  for (const ending of ["", "-wal", "-shm"]) rmSync(path + ending, { force: true });
  await cp(dirname(image), dirname(path), { recursive: true });
}
