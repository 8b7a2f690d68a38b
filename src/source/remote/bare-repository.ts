import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { ensureOwnFolder } from "../../files/own-folder.ts";
import { createFile, replaceFile } from "../../files/write-file.ts";
import { holdExclusiveLock } from "../../store/lock-file.ts";
import { makeFolder } from "../../store/make-folder.ts";
import type { ObjectFormat } from "../git/git.ts";
import { localEnvironment } from "./git-environment.ts";
import { runGit } from "./run-git.ts";

type Stop = { readonly signal: AbortSignal };

/** How often a repository that another process uses is asked for again. */
const BUSY_MS = 50;

/** Keeps other processes out of a bare repository of ours, making its folder when absent. */
export async function lockRepository(folder: string, { signal }: Stop): Promise<AsyncDisposable> {
  await makeFolder(folder);
  // It may lie in a checkout.
  createFile(join(folder, ".gitignore"), "*\n");
  for (;;) {
    const lock = holdExclusiveLock(join(folder, "holdfast.db"));
    if (lock !== null) return lock;
    await wait(BUSY_MS, undefined, { signal });
  }
}

/** Makes an empty bare repository where there is none; what a process that was killed has left is removed. */
export async function prepareRepository(folder: string, format: ObjectFormat, stop: Stop): Promise<void> {
  ensureOwnFolder(join(folder, "home"));
  if (isUsable(folder, format)) return removeLeftovers(folder);
  clearRepository(folder);
  const args = [
    "init",
    "--quiet",
    "--bare",
    "--template=",
    `--object-format=${format}`,
    "--initial-branch=none",
    folder,
  ];
  const made = await runGit(args, { folder, env: localEnvironment(folder), ...stop });
  if (made.code !== 0) throw new Error(`git init: ${made.stderr}`);
}

/** Removes everything that was fetched; the next fetch begins anew. */
export function clearRepository(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (name === "home" || name === ".gitignore" || name.startsWith("holdfast.db")) continue;
    rmSync(join(folder, name), { recursive: true, force: true });
  }
}

// Without git, whose start costs more the more memory this process has. Whatever else is damaged, the next run of git says.
function isUsable(folder: string, format: ObjectFormat): boolean {
  const config = textOf(join(folder, "config"));
  const isWhole = ["HEAD", "objects", "refs"].every((name) => existsSync(join(folder, name)));
  return (
    isWhole && /^\s*bare = true$/m.test(config) && /^\s*objectformat = sha256$/im.test(config) === (format === "sha256")
  );
}

/** The object that a ref of a bare repository of ours names; null where there is no such ref. */
export function readRefFile(folder: string, ref: string): string | null {
  const loose = textOf(join(folder, ref)).trim();
  if (loose !== "") return loose;
  const packed = textOf(join(folder, "packed-refs")).split("\n");
  return packed.find((line) => line.endsWith(` ${ref}`))?.split(" ")[0] ?? null;
}

/** Lets a ref of a bare repository of ours name an object that is there. */
export function writeRefFile(folder: string, ref: string, id: string): void {
  const path = join(folder, ref);
  mkdirSync(dirname(path), { recursive: true });
  replaceFile(path, `${id}\n`);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

// Only whoever holds our lock works here, so every lock of git's is of a process that has ended.
function removeLeftovers(folder: string): void {
  mkdirSync(join(folder, "objects", "pack"), { recursive: true });
  const isLeft = (name: string): boolean => /\.lock$|(?:^|\/)tmp_[^/]+$/.test(name);
  for (const below of ["refs", "objects/pack", "objects/info"]) {
    const names = readdirSync(join(folder, below), { recursive: true, encoding: "utf8" });
    for (const name of names.filter(isLeft)) rmSync(join(folder, below, name), { force: true });
  }
  for (const name of readdirSync(folder).filter(isLeft)) rmSync(join(folder, name), { force: true });
}
