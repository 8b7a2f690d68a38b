import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { digestFile } from "../../../../src/engine/model-files/read-file.ts";
import { folderStorage } from "../../../../src/engine/upload/folder-storage.ts";
import { StorageRefusal } from "../../../../src/engine/upload/storage.ts";
import { temporaryFolder } from "../../../support/folder.ts";

const signal = new AbortController().signal;

async function trial() {
  const [from, to] = [await temporaryFolder(), await temporaryFolder()];
  writeFileSync(join(from, "weights"), "0123456789");
  const files = [await digestFile({ path: "a/weights", real: join(from, "weights") }, () => {}, { signal })];
  const store = async (folder = to): Promise<void> => {
    await using storage = folderStorage(pathToFileURL(folder).href);
    await storage.store(files, { signal, onStored: () => {} });
  };
  return { to, store };
}

test("what an interrupted copy has left is replaced, and a file of the same size with other content too", async () => {
  const { to, store } = await trial();
  writeFileSync(join(to, ".holdfast-upload"), "0123");
  mkdirSync(join(to, "a"));
  writeFileSync(join(to, "a/weights"), "9876543210");
  await store();
  expect(readdirSync(to, { recursive: true }).toSorted()).toEqual(["a", "a/weights"]);
  expect(readFileSync(join(to, "a/weights"), "utf8")).toBe("0123456789");
});

const refused: readonly (readonly [what: string, prepare: (to: string) => void, says: string])[] = [
  [
    "with another file",
    (to) => writeFileSync(join(to, "authorized_keys"), "x"),
    "has another file already: authorized_keys",
  ],
  ["with a link", (to) => symlinkSync("/etc", join(to, "a")), "has what is no file: a"],
];

test.each(refused)("a folder %s gets nothing", async (_, prepare, says) => {
  const { to, store } = await trial();
  prepare(to);
  const before = readdirSync(to);
  await expect(store()).rejects.toThrow(StorageRefusal);
  await expect(store()).rejects.toThrow(says);
  expect(readdirSync(to)).toEqual(before);
});

test("a folder that is not there is not made, and a link to one is none", async () => {
  const { to, store } = await trial();
  await expect(store(join(to, "absent"))).rejects.toThrow("is no folder of this machine");
  symlinkSync(to, join(to, "link"));
  await expect(store(join(to, "link"))).rejects.toThrow("is no folder of this machine");
  expect(readdirSync(to)).toEqual(["link"]);
});
