import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, linkSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { ownDatabaseExists } from "../../../src/files/own-database.ts";
import { readOwnFile } from "../../../src/files/read-own-file.ts";
import { UnsafePathError } from "../../../src/files/unsafe-path-error.ts";
import { holdExclusiveLock } from "../../../src/store/lock-file.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open.ts";
import { needsRoot } from "../../support/as-root.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { machine } from "../../support/machine.ts";
import { placeSpecial, type SpecialFile, specialFiles } from "../../support/special-file.ts";

const read = (path: string, isSecret = false) => readOwnFile(path, { limit: 100, isSecret })?.toString() ?? null;

async function file(content: string, mode = 0o600): Promise<string> {
  const path = join(await temporaryFolder(), "file");
  writeFileSync(path, content);
  chmodSync(path, mode);
  return path;
}

function expectUnsafe(work: () => unknown, message: string): void {
  expect(work).toThrow(UnsafePathError);
  expect(work).toThrow(message);
}

describe("S40 a file of the user", () => {
  test("S40 is read when it is a regular file of the user's, and null where there is none", async () => {
    const path = await file("content");
    expect(read(path)).toBe("content");
    expect(read(path, true)).toBe("content");
    expect([read(`${path}-`), read(join(path, "below"))]).toEqual([null, null]);
    expect(read(await file(""))).toBe("");
    expect(read(await file("x".repeat(100)))).toHaveLength(100);
  });

  test.each(Object.entries(specialFiles))("S40 is not opened when it is a %s", async (sort, name) => {
    const path = join(await temporaryFolder(), "file");
    placeSpecial(sort as SpecialFile, path);
    expectUnsafe(() => read(path), `${path} is ${name}, not a regular file`);
  });

  test("S40 is not opened when it is a device", async (context) => {
    needsRoot(context);
    const path = join(await temporaryFolder(), "file");
    execFileSync("mknod", ["-m", "600", path, "c", "1", "5"]);
    expectUnsafe(() => read(path), `${path} is a device`);
  });

  test("S40 is refused when it is too large, without being read", async () => {
    const path = await file("");
    truncateSync(path, 2 ** 40);
    expectUnsafe(() => read(path), "too large");
    expectUnsafe(() => read(path), `${2 ** 40} bytes`);
    expect(ownDatabaseExists(path)).toBe(true);
    truncateSync(path, 2 ** 40 + 1);
    expectUnsafe(() => ownDatabaseExists(path), "too large");
  });

  test.each(["602", "606", "666"])("S40 is refused with mode %s, since others can write it", async (mode) => {
    const path = await file("content", Number.parseInt(mode, 8));
    expectUnsafe(() => read(path), `${path}: others can write it`);
  });

  test.each(["604", "640", "644"])("S40 is refused with mode %s, where it holds a secret", async (mode) => {
    const path = await file("content", Number.parseInt(mode, 8));
    expectUnsafe(() => read(path, true), `${path}: others can read it; run chmod 600 on it`);
    expect(read(path)).toBe("content");
  });

  test("S40 is refused when it is another user's, a hard link to such a file included", async (context) => {
    needsRoot(context);
    const path = await file("content");
    chownSync(path, 12_345, 0);
    linkSync(path, `${path}-2`);
    expectUnsafe(() => read(path), `${path} belongs to another user (uid 12345)`);
    expectUnsafe(() => read(`${path}-2`), "another user");
  });

  test("S40 may be open to the group that its folder is given to, as a volume's fsGroup is", async (context) => {
    needsRoot(context);
    const path = await file("content", 0o660);
    chownSync(path, 0, 54_321);
    expectUnsafe(() => read(path), "others can write it");
    chownSync(dirname(path), 0, 54_321);
    chmodSync(dirname(path), 0o2770);
    expect(read(path, true)).toBe("content");
    chownSync(path, 0, 54_322);
    expectUnsafe(() => read(path, true), "others can write it");
  });
});

describe("S40 a database of the user", () => {
  test.each(["", "-wal", "-shm", "-journal"])(
    "S40 is refused when its file named …%s is a pipe or a link",
    async (suffix) => {
      for (const sort of ["pipe", "symlink"] as const) {
        const path = join(await temporaryFolder(), "a.db");
        expect(ownDatabaseExists(path)).toBe(false);
        placeSpecial(sort, path + suffix);
        expectUnsafe(() => ownDatabaseExists(path), `${path}${suffix} is ${specialFiles[sort]}`);
      }
    },
  );

  test("S40 is not opened, locked or created when it is no regular file", async () => {
    const path = join(await temporaryFolder(), "a.db");
    placeSpecial("dangling symlink", path);
    await expect(openSqliteStore(path, {}, machine)).rejects.toThrow(UnsafePathError);
    expectUnsafe(() => holdExclusiveLock(path), "a symbolic link");
    expect(existsSync(path)).toBe(false);
  });
});
