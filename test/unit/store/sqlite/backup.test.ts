import { copyFileSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { migrate } from "../../../../src/store/migrate.ts";
import { openSqliteStore } from "../../../../src/store/sqlite/open.ts";
import { openSqliteConnection } from "../../../../src/store/sqlite/open-connection.ts";
import { queryBuilder } from "../../../../src/store/sqlite/query-builder.ts";
import { contentOf, firstOf } from "../../../support/database-schemas.ts";
import { temporaryFolder } from "../../../support/folder.ts";
import { machine } from "../../../support/machine.ts";
import { startNode } from "../../../support/process.ts";
import { sixSteps } from "../notes.ts";

async function opened(path: string, count = 2): Promise<readonly string[]> {
  const notices: string[] = [];
  const notify = (notice: string) => void notices.push(notice);
  await (await openSqliteStore(path, firstOf(sixSteps, count), { ...machine, notify })).close();
  return notices;
}

/** A database of the first step with some rows; larger than a number of bytes. */
async function databaseWith({ bytes = 0 } = {}): Promise<string> {
  const path = join(await temporaryFolder(), "a.db");
  await opened(path, 1);
  using connection = openSqliteConnection(path);
  connection.prepare("INSERT INTO notes (id, text) VALUES (1, ?)").run("x".repeat(bytes));
  return path;
}

/** Opens a database in a process of its own, with two steps of its schema. */
function openApart(path: string, { mostBlocks, before = "" }: { mostBlocks?: number; before?: string } = {}) {
  const module = (file: string) => JSON.stringify(import.meta.resolve(file));
  const script = `
    import { DatabaseSync } from "node:sqlite";
    import { openSqliteStore } from ${module("../../../../src/store/sqlite/open.ts")};
    import { systemClock } from ${module("../../../../src/clock/system.ts")};
    import { sixSteps } from ${module("../notes.ts")};
    ${before}
    const steps = Object.fromEntries(Object.entries(sixSteps).slice(0, 2));
    const notices = [];
    try {
      await (await openSqliteStore(${JSON.stringify(path)}, steps, { clock: systemClock, notify: (notice) => notices.push(notice) })).close();
      console.log(JSON.stringify({ notices }));
    } catch ({ code, message }) {
      console.log(JSON.stringify({ code, message }));
    }`;
  const surroundings = { cwd: dirname(path), ...(mostBlocks === undefined ? {} : { mostBlocks }) };
  return startNode(["--input-type=module", "-e", script], surroundings);
}

const filesBeside = (path: string) => readdirSync(dirname(path)).toSorted();

describe("F72 before an upgrade", () => {
  test("a backup is created next to the database, for its owner alone, and the notice names it", async () => {
    const path = await databaseWith();
    const before = contentOf(path);
    const backup = `${path}.0001-notes.backup`;
    expect(await opened(path)).toEqual([`${path} was upgraded; its backup is ${backup}`]);
    expect(filesBeside(path)).toEqual(["a.db", "a.db.0001-notes.backup"]);
    expect(statSync(backup).mode & 0o777).toBe(0o600);
    expect(contentOf(backup)).toEqual(before);
    expect(contentOf(path)).not.toEqual(before);
    // The earlier release goes on with it, once it is put in place.
    copyFileSync(backup, path);
    expect(await opened(path, 1)).toEqual([]);
    expect(contentOf(path)).toEqual(before);
  });

  test("a backup takes the place of an earlier one of the same schema, and of what a killed attempt left", async () => {
    const path = await databaseWith();
    const backup = `${path}.0001-notes.backup`;
    const before = contentOf(path);
    writeFileSync(backup, "an earlier one");
    writeFileSync(`${backup}.unfinished`, "half of one");
    await opened(path);
    expect(contentOf(backup)).toEqual(before);
    expect(filesBeside(path)).toEqual(["a.db", "a.db.0001-notes.backup"]);
  });

  test("only the backups of the latest three schemas stay, and no other files are removed", async () => {
    const path = await databaseWith();
    writeFileSync(`${path}.mine.backup`, "mine");
    for (const count of [2, 3, 4, 5, 6]) await opened(path, count);
    const kept = ["0003-column", "0004-column", "0005-column", "mine"].map((name) => `a.db.${name}.backup`);
    expect(filesBeside(path)).toEqual(["a.db", ...kept]);
  });

  test("a database that cannot be backed up is not upgraded, and the message says where there is no room", async () => {
    const path = await databaseWith({ bytes: 200_000 });
    const before = contentOf(path);
    // As many bytes as the log needs, but not the backup.
    const refused = await openApart(path, { mostBlocks: 200 }).ended;
    expect(JSON.parse(refused.stdout)).toEqual({
      code: "no-backup",
      message: expect.stringMatching(
        `^${path}: it was not upgraded, since ${path} could not be copied to ${path}\\.0001-notes\\.backup: `,
      ),
    });
    expect(contentOf(path)).toEqual(before);
    expect(filesBeside(path)).toEqual(["a.db"]);
    expect(await opened(path)).toHaveLength(1);
  });

  test("a start with nothing to upgrade makes no backup", async () => {
    const path = join(await temporaryFolder(), "a.db");
    expect(await opened(path)).toEqual([]);
    expect(await opened(path)).toEqual([]);
    expect(filesBeside(path)).toEqual(["a.db"]);
  });

  test("a database that a newer release has changed is refused, byte for byte as it was", async () => {
    const path = await databaseWith();
    await opened(path, 3);
    const [before, files] = [readFileSync(path), filesBeside(path)];
    await expect(opened(path, 2)).rejects.toMatchObject({ code: "newer-schema" });
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(filesBeside(path)).toEqual(files);
  });

  test("a process that starts while another one upgrades waits, and finds the upgrade done", async () => {
    const path = await databaseWith();
    using connection = openSqliteConnection(path);
    connection.exec("BEGIN IMMEDIATE");
    const waits = `
      const { exec } = DatabaseSync.prototype;
      DatabaseSync.prototype.exec = function (statement) {
        if (statement === "BEGIN IMMEDIATE") console.log("waits");
        return exec.call(this, statement);
      };`;
    const second = openApart(path, { before: waits });
    await second.shows("stdout", /^waits$/m);
    await migrate(queryBuilder(connection), firstOf(sixSteps, 2));
    connection.exec("COMMIT");
    const { code, stdout } = await second.ended;
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'waits\n{"notices":[]}\n' });
    expect(filesBeside(path)).not.toContain("a.db.0001-notes.backup");
  });

  test("unknown tables, indexes and columns do not stop an upgrade", async () => {
    const path = await databaseWith();
    using connection = new DatabaseSync(path);
    connection.exec(
      "CREATE TABLE _replica (id); CREATE INDEX of_mine ON notes (text); ALTER TABLE notes ADD COLUMN mine",
    );
    connection.close();
    expect(await opened(path)).toHaveLength(1);
    const { rows } = contentOf(path);
    expect(rows.notes).toEqual([{ id: 1, text: "", mine: null, column_2: null }]);
  });
});

test("F72 processes that start together on a new file all find its schema, made once", async () => {
  const path = join(await temporaryFolder(), "a.db");
  const running = Array.from({ length: 6 }, () => openApart(path));
  const ended = await Promise.all(running.map((each) => each.ended));
  expect(ended.map(({ stdout }) => stdout)).toEqual(ended.map(() => '{"notices":[]}\n'));
  expect(contentOf(path).rows).toEqual({ notes: [] });
});

test("F72 the operator is notified when a database that an earlier release left incomplete was completed", async () => {
  const path = join(await temporaryFolder(), "a.db");
  using connection = openSqliteConnection(path);
  connection.exec("CREATE TABLE notes (id integer primary key, text text)");
  connection.close();
  expect(await opened(path, 1)).toEqual([`${path} was incomplete after an interrupted start, and was completed`]);
  expect(await opened(path, 1)).toEqual([]);
});
