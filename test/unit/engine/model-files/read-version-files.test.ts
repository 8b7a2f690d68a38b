import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../../../src/clock/system.ts";
import { knownDigests } from "../../../../src/engine/model-files/known-digests.ts";
import { digestFile, readPart } from "../../../../src/engine/model-files/read-file.ts";
import { type FilesPlace, readVersionFiles } from "../../../../src/engine/model-files/read-version-files.ts";
import type { StateCache } from "../../../../src/state/state.ts";
import { temporaryFolder } from "../../../support/folder.ts";

const manifest = { kind: "model-version", identity: "model-version/r/m", file: "m.yaml", line: 1, references: [] };
const signal = new AbortController().signal;

async function folderOf(files: { readonly [path: string]: string }) {
  const folder = await temporaryFolder();
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, "model", path)), { recursive: true });
    writeFileSync(join(folder, "model", path), content);
  }
  return folder;
}

function reading(cache: StateCache | null = null, clock = systemClock) {
  const seen: (readonly [number, number])[] = [];
  const known = knownDigests(cache, () => {});
  return { signal, clock, known, onRead: (...progress: [number, number]) => void seen.push(progress), seen };
}

const placeOf = (source: string): FilesPlace => ({ source, modelRoot: null, cwd: source });

/** A cache that keeps what was written, as another process would find it. */
function cacheInMemory(): StateCache {
  let text: string | null = null;
  return {
    readNew: async () => text,
    write: async (content) => {
      text = [...content].join("");
      return null;
    },
  };
}

test("the digest of a tree is what sha256sum gives for its files in the order of their bytes", async () => {
  const folder = await folderOf({ b: "1", "a/z": "2", "a-": "3", Ä: "4", ".hidden": "", "a b/c": "5" });
  const read = await readVersionFiles("model", manifest, placeOf(folder), reading());
  const command = "find . -type f -printf '%P\\0' | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum";
  const [sum] = execFileSync("sh", ["-c", command], { cwd: join(folder, "model"), encoding: "utf8" }).split(" ");
  expect(read).toMatchObject({ digest: `sha256:${sum}`, bytes: 5 });
  expect(read.files).toHaveLength(6);
});

test("a file with the same size, times and inode is not read again, also by another process", async () => {
  const folder = await folderOf({ weights: "content" });
  const path = join(folder, "model/weights");
  const cache = cacheInMemory();
  // The file was changed long before it is read.
  const later = { ...systemClock, now: () => Date.now() + 60_000 };
  const first = await readVersionFiles("model", manifest, placeOf(folder), reading(cache, later));
  let reads = 0;
  const counted = knownDigests(cache, () => {});
  const known = {
    ...counted,
    note: (...given: Parameters<typeof counted.note>) => {
      reads += 1;
      counted.note(...given);
    },
  };
  const again = () => readVersionFiles("model", manifest, placeOf(folder), { ...reading(), clock: later, known });
  expect([(await again()).digest, reads]).toEqual([first.digest, 0]);
  // The same size, and the same time of change as far as a program can set it.
  const { atime, mtime } = { atime: new Date(0), mtime: new Date(0) };
  utimesSync(path, atime, mtime);
  await again();
  expect(reads).toBe(1);
  writeFileSync(path, "CONTENT");
  utimesSync(path, atime, mtime);
  expect([(await again()).digest === first.digest, reads]).toEqual([false, 2]);
});

test("a file that was changed right before it was read is read again, since its times may stay", async () => {
  const folder = await folderOf({ weights: "content" });
  const cache = cacheInMemory();
  const first = await readVersionFiles("model", manifest, placeOf(folder), reading(cache));
  const known = knownDigests(cache, () => {});
  const [file] = first.files;
  expect(file && (await known.find(file, file.stamp))).toBeNull();
});

test("a cache that cannot be stored costs nothing but the next reading", async () => {
  const folder = await folderOf({ weights: "content" });
  const forgotten: string[] = [];
  const cache: StateCache = { readNew: async () => null, write: async () => "the disk is full" };
  const known = knownDigests(cache, (what, why) => void forgotten.push(`${what}: ${why}`));
  const read = await readVersionFiles("model", manifest, placeOf(folder), { ...reading(), known });
  expect(read.files).toHaveLength(1);
  expect(forgotten).toEqual(["the digests of model files: the disk is full"]);
});

const changes: readonly (readonly [what: string, change: (path: string) => void])[] = [
  ["has grown", (path) => appendFileSync(path, "x")],
  ["was cut short", (path) => truncateSync(path, 3)],
  [
    "was replaced by one of the same size",
    (path) => {
      writeFileSync(`${path}.new`, "other".padEnd(readFileSync(path).length, "."));
      renameSync(`${path}.new`, path);
    },
  ],
  [
    "has become a link",
    (path) => {
      renameSync(path, `${path}.moved`);
      symlinkSync(`${path}.moved`, path);
    },
  ],
];

test.each(changes)("a file that %s since it was digested is refused when it is sent", async (_, change) => {
  const folder = await folderOf({ weights: "0123456789".repeat(100_000) });
  const { files } = await readVersionFiles("model", manifest, placeOf(folder), reading());
  const [file] = files;
  if (file === undefined) throw new Error("there is no file");
  change(join(folder, "model/weights"));
  let chunks = 0;
  const read = async (): Promise<void> => {
    for await (const _chunk of readPart(file, { first: 0, size: file.size }, { signal })) chunks += 1;
  };
  await expect(read()).rejects.toThrow(/weights (?:has changed while it was read|is a symbolic link)/);
  // Before any of it is sent.
  expect(chunks).toBe(0);
});

test("a file that has become a link since it was found is not read", async () => {
  const folder = await folderOf({ weights: "content" });
  const real = join(folder, "model/weights");
  renameSync(real, `${real}.moved`);
  symlinkSync(`${real}.moved`, real);
  await expect(digestFile({ path: "weights", real }, () => {}, { signal })).rejects.toThrow(
    "weights is a symbolic link",
  );
});

test("a file that changes while it is sent is refused at its end", async () => {
  const folder = await folderOf({ weights: "0123456789".repeat(100_000) });
  const { files } = await readVersionFiles("model", manifest, placeOf(folder), reading());
  const [file] = files;
  if (file === undefined) throw new Error("there is no file");
  const read = async (): Promise<void> => {
    for await (const _chunk of readPart(file, { first: 0, size: file.size }, { signal })) {
      appendFileSync(join(folder, "model/weights"), "x");
    }
  };
  await expect(read()).rejects.toThrow("weights has changed while it was read");
});

test("a file of which another content has the same stamp is found by its digest when it is sent", async () => {
  const folder = await folderOf({ weights: "0123456789" });
  const { files } = await readVersionFiles("model", manifest, placeOf(folder), reading());
  const [file] = files;
  if (file === undefined) throw new Error("there is no file");
  const wrong = { ...file, digest: "0".repeat(64) };
  const read = async (): Promise<void> => {
    for await (const _chunk of readPart(wrong, { first: 0, size: file.size }, { signal })) {
      // Only the end matters.
    }
  };
  await expect(read()).rejects.toThrow("weights has changed while it was read");
});

test("progress counts every byte, and reading can be stopped", async () => {
  const folder = await folderOf({ a: "x".repeat(600_000), b: "y" });
  const told = reading();
  await readVersionFiles("model", manifest, placeOf(folder), told);
  expect(told.seen.at(-1)).toEqual([600_001, 600_001]);
  const stopping = new AbortController();
  const stopped = { ...reading(), signal: stopping.signal, onRead: () => stopping.abort(new Error("stopped")) };
  await expect(readVersionFiles("model", manifest, placeOf(folder), stopped)).rejects.toThrow("stopped");
});
