import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import type { Migrations } from "../../src/store/migrate.ts";
import { contentOf, fillTables, firstOf, migrateLikeEarlierReleases } from "../support/database-schemas.ts";
import { temporaryFolder } from "../support/folder.ts";
import { randomFrom } from "../support/random.ts";
import { soakSizes } from "./sizes.ts";
import { type Fault, type Faulty, type Point, runWithFault, whyNoStrace } from "./strace.ts";
import { countPoints, nothingFound, record, sample, seedOf } from "./sweep.ts";

const calls = ["pwrite64", "fsync", "ftruncate", "openat", "?unlink,unlinkat", "?rename,?renameat,renameat2"];
const faults: readonly Fault[] = ["killed", "full once", "full from then on"];
const script = resolve(import.meta.dirname, "open-database.ts");
const done = '{"code":null}';

/** What an upgrade makes of a database, and where it is tried out. */
type Upgrade = {
  readonly folder: string;
  readonly path: string;
  readonly backup: string;
  readonly original: string | null;
  readonly before: unknown;
  readonly after: unknown;
};

/** Tests the first start and every upgrade of a database with a fault at every system call on its files. */
export function sweepDatabase(name: string, migrations: Migrations): void {
  const all = Object.keys(migrations).map((_, count) => count);
  const steps = sample(all, soakSizes.schemas, randomFrom(seedOf()));
  const reason = whyNoStrace();
  if (reason !== null) process.stdout.write(`F72 ${name} is not swept: ${reason}\n`);
  describe.skipIf(reason !== null).each(steps)(`F72 ${name}, upgraded from step %i`, (count) => {
    test.each(faults)(
      "and %s at any system call, is as before or as after, and the next start ends it",
      async (fault) => {
        const upgrade = await upgradeOf(name, migrations, count);
        const counts = calls.map((call) => countPoints((nth) => survives(upgrade, fault, { call, nth }), soakSizes));
        const total = counts.reduce((sum, one) => sum + one, 0);
        const on = `${name} from step ${count}, ${fault}`;
        const [killPoints, faults] = fault === "killed" ? [total, 0] : [0, total];
        const result = { on, seed: null, killPoints, faults, randomSteps: 0, ...nothingFound };
        record({ sweep: "first start and upgrades", ...result });
      },
    );
  });
}

async function upgradeOf(name: string, migrations: Migrations, count: number): Promise<Upgrade> {
  const folder = join(await temporaryFolder(), "state");
  const original = count === 0 ? null : join(await temporaryFolder(), name);
  if (original !== null) {
    await migrateLikeEarlierReleases(original, firstOf(migrations, count));
    fillTables(original);
  }
  const path = join(folder, name);
  const backup = `${path}.${Object.keys(migrations).toSorted()[count - 1]}.backup`;
  lay({ folder, path, original });
  const before = contentOf(path);
  open({ folder, path });
  return { folder, path, backup, original, before, after: contentOf(path) };
}

function lay({ folder, path, original }: Pick<Upgrade, "folder" | "path" | "original">): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  if (original !== null) cpSync(original, path);
}

function open({ folder, path }: Pick<Upgrade, "folder" | "path">): void {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, path], { cwd: folder, encoding: "utf8" });
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: done, stderr: "" });
}

/** Puts the fault at the point, and looks at what it did; false where the upgrade does not come to that point. */
function survives(upgrade: Upgrade, fault: Fault, point: Point): boolean {
  lay(upgrade);
  const { folder, path, backup, before, after } = upgrade;
  const files = [folder, backup, `${backup}.unfinished`, ...["", "-wal", "-shm", "-journal"].map((end) => path + end)];
  const ended = runWithFault([script, path], folder, fault, { ...point, files });
  if (!ended.isReached) return false;
  if (fault !== "killed") expectToBeTold(ended, path);
  expect([before, after]).toContainEqual(contentOf(path));
  open(upgrade);
  expect(contentOf(path)).toEqual(after);
  return true;
}

function expectToBeTold({ code, stdout, stderr }: Faulty, path: string): void {
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  if (stdout === done) return;
  expect(JSON.parse(stdout)).toEqual({
    code: expect.stringMatching(/^(?:full|inaccessible|no-backup)$/),
    message: expect.stringContaining(`${path}: `),
  });
}
