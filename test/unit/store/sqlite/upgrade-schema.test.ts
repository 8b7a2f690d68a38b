import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import type { Migrations } from "../../../../src/store/migrate.ts";
import { openSqliteStore } from "../../../../src/store/sqlite/open.ts";
import { crashImages } from "../../../support/crash-images.ts";
import {
  contentOf,
  databases,
  fillTables,
  firstOf,
  migrateLikeEarlierReleases,
} from "../../../support/database-schemas.ts";
import { temporaryFolder } from "../../../support/folder.ts";
import { machine } from "../../../support/machine.ts";

/** After how many steps of a schema an upgrade can begin; 0 is a file that is not there. */
const startsOf = (migrations: Migrations) => Object.keys(migrations).map((_, count) => count);

describe.each(databases)("$name", ({ name, migrations, early }) => {
  const starts = startsOf(migrations);

  async function open(path: string): Promise<void> {
    await (await openSqliteStore(path, migrations, machine)).close();
  }

  /** A database with so many steps of the schema, and a row in each of its tables. */
  async function databaseWith(count: number): Promise<string> {
    const path = join(await temporaryFolder(), name);
    if (count === 0) return path;
    await migrateLikeEarlierReleases(path, firstOf(migrations, count));
    fillTables(path);
    return path;
  }

  /** That database after an upgrade in which nothing went wrong. */
  async function upgradedFrom(count: number): Promise<string> {
    const path = await databaseWith(count);
    await open(path);
    return path;
  }

  test.each(starts)(
    "F72 killed before any statement of an upgrade from step %i, is upgraded by the next start",
    async (count) => {
      const path = await databaseWith(count);
      const images = await crashImages(path, () => open(path));
      const expected = contentOf(await upgradedFrom(count));
      expect(images.length).toBeGreaterThan(count === 0 ? 1 : 3);
      for (const image of images) {
        await open(image);
        expect(contentOf(image)).toEqual(expected);
      }
    },
  );

  test.each(startsOf(early))("F72 left half made by an earlier release after step %i, is completed", async (count) => {
    const path = await databaseWith(count);
    const images = await crashImages(path, () => migrateLikeEarlierReleases(path, early));
    const expected = contentOf(await upgradedFrom(count));
    expect(images.length).toBeGreaterThan(3);
    for (const image of images) {
      await open(image);
      expect(contentOf(image)).toEqual(expected);
    }
  });

  test.each(starts)("F72 on a disk that gets full during an upgrade from step %i, is left as it was", async (count) => {
    const path = await databaseWith(count);
    await (await openSqliteStore(path, firstOf(migrations, count), machine)).close();
    const before = contentOf(path);
    const upgraded = await upgradedFrom(count);
    for (const pages of someBetween(pagesOf(path), pagesOf(upgraded))) {
      using _limit = withoutRoomBeyond(pages);
      await expect(open(path)).rejects.toMatchObject({
        code: "full",
        message: `${path}: no space is left on the disk`,
      });
      expect(contentOf(path)).toEqual(before);
    }
    await open(path);
    expect(contentOf(path)).toEqual(contentOf(upgraded));
  });
});

/** Up to ten whole numbers from one on, below the other. */
function someBetween(from: number, below: number): readonly number[] {
  const stride = Math.ceil((below - from) / 10);
  return Array.from({ length: 10 }, (_, nth) => from + nth * stride).filter((each) => each < below);
}

function pagesOf(path: string): number {
  using connection = new DatabaseSync(path);
  return Number(connection.prepare("PRAGMA page_count").get()?.page_count);
}

/** Lets no database grow beyond so many pages, until disposed of: past them SQLite says that the disk is full. */
function withoutRoomBeyond(pages: number): Disposable {
  const { exec } = DatabaseSync.prototype;
  DatabaseSync.prototype.exec = function (statement) {
    exec.call(this, statement);
    if (statement.startsWith("PRAGMA journal_mode")) exec.call(this, `PRAGMA max_page_count = ${pages}`);
  };
  return {
    [Symbol.dispose]: () => {
      DatabaseSync.prototype.exec = exec;
    },
  };
}
