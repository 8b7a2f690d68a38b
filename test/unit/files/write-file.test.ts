import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkWritable, createFile, makeFolders, renameNoReplace, replaceFile } from "../../../src/files/write-file.ts";
import { parseKey } from "../../../src/seal/seal-key.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { startNode } from "../../support/process.ts";
import { placeSpecial, type SpecialFile, specialFiles } from "../../support/special-file.ts";

function* failing(): Generator<Buffer> {
  yield Buffer.from("half of ");
  throw new Error("no more");
}

describe("S45 a file that is written", () => {
  test("S45 appears atomically, for its owner alone, and leaves no temporary file", async () => {
    const folder = await temporaryFolder();
    const path = join(folder, "file");
    replaceFile(path, "first", { durable: true });
    replaceFile(path, [Buffer.from("sec"), Buffer.from("ond")]);
    expect(readFileSync(path, "utf8")).toBe("second");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(["file"]);
  });

  test("S45 replaces one that others may read, and leaves its other names alone", async () => {
    const path = join(await temporaryFolder(), "file");
    writeFileSync(path, "before", { mode: 0o644 });
    linkSync(path, `${path}-2`);
    replaceFile(path, "after");
    expect([path, `${path}-2`].map((name) => readFileSync(name, "utf8"))).toEqual(["after", "before"]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test("keeps its mode where it is shared, and gets that of any new file", async () => {
    const folder = await temporaryFolder();
    const [kept, made] = [join(folder, "kept"), join(folder, "made")];
    writeFileSync(kept, "before");
    chmodSync(kept, 0o640);
    for (const path of [kept, made]) replaceFile(path, "after", { isShared: true });
    expect([kept, made].map((path) => statSync(path).mode & 0o777)).toEqual([0o640, 0o666 & ~process.umask()]);
  });

  test.each(Object.entries(specialFiles))("S45 takes the place of no %s, and goes through none", async (sort, name) => {
    const folder = await temporaryFolder();
    const path = join(folder, "file");
    placeSpecial(sort as SpecialFile, path, "target");
    const before = readdirSync(folder);
    expect(() => replaceFile(path, "content")).toThrow(`${path} is ${name}, not a regular file`);
    expect(createFile(path, "content")).toBe(false);
    expect(readdirSync(folder)).toEqual(before);
    if (sort === "symlink") expect(readFileSync(path, "utf8")).toBe("target");
    expect(existsSync(`${path}.nowhere`)).toBe(false);
  });

  test("S45 is not created when writing fails, and an existing file stays", async () => {
    const folder = await temporaryFolder();
    const path = join(folder, "file");
    expect(() => createFile(path, failing())).toThrow("no more");
    expect(readdirSync(folder)).toEqual([]);
    writeFileSync(path, "before");
    expect(() => replaceFile(path, failing())).toThrow("no more");
    expect(readdirSync(folder)).toEqual(["file"]);
    expect(readFileSync(path, "utf8")).toBe("before");
  });

  test("S45 is created once: a second attempt returns false and changes nothing", async () => {
    const folder = await temporaryFolder();
    const path = join(folder, "file");
    expect([createFile(path, "one", { durable: true }), createFile(path, "two")]).toEqual([true, false]);
    writeFileSync(join(folder, "draft"), "three");
    expect(renameNoReplace({ path: join(folder, "draft") }, path)).toBe(false);
    expect(readFileSync(path, "utf8")).toBe("one");
    symlinkSync("nowhere", join(folder, "link"));
    expect(renameNoReplace({ path: join(folder, "draft") }, join(folder, "link"))).toBe(false);
    expect(readlinkSync(join(folder, "link"))).toBe("nowhere");
  });

  test("F72 is filled where an earlier release left it empty when it was killed", async () => {
    const folder = await temporaryFolder();
    const path = join(folder, "file");
    writeFileSync(path, "", { mode: 0o644 });
    expect(createFile(path, "content", { durable: true })).toBe(false);
    expect(readFileSync(path, "utf8")).toBe("content");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(["file"]);
  });

  test.each(["absent", "empty"])("F72 is the same for all that find it %s at the same time", async (state) => {
    const folder = await temporaryFolder();
    const path = join(folder, "key");
    if (state === "empty") writeFileSync(path, "", { mode: 0o600 });
    const script = `
      import { loadOrCreateKey } from ${JSON.stringify(import.meta.resolve("../../../src/seal/seal-key.ts"))};
      console.log((await loadOrCreateKey(${JSON.stringify(path)})).version);`;
    const args = ["--input-type=module", "-e", script];
    const ended = await Promise.all(Array.from({ length: 8 }, () => startNode(args, { cwd: folder }).ended));
    const versions = ended.map(({ stdout }) => stdout.trim());
    expect(versions).toEqual(versions.map(() => parseKey(readFileSync(path, "utf8")).version));
    expect(readdirSync(folder)).toEqual(["key"]);
  });

  test("S45 needs a folder: trying it out leaves nothing behind", async () => {
    const folder = await temporaryFolder();
    checkWritable(folder);
    expect(readdirSync(folder)).toEqual([]);
    mkdirSync(join(folder, "a"));
    expect(() => checkWritable(join(folder, "b"))).toThrow("ENOENT");
  });
});

test("folders are made with their parents; what is no folder, or can have none, is an error at once", async () => {
  const folder = await temporaryFolder();
  makeFolders(join(folder, "a/b/c"));
  makeFolders(join(folder, "a/b/c"));
  expect(statSync(join(folder, "a/b/c")).isDirectory()).toBe(true);
  writeFileSync(join(folder, "file"), "");
  for (const path of [join(folder, "file"), join(folder, "file/below"), "/proc/holdfast/below"])
    expect(() => makeFolders(path)).toThrow(/EEXIST|ENOTDIR|ENOENT/);
});
