import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { ensureOwnFolder } from "../../files/own-folder.ts";
import { createFile } from "../../files/write.ts";
import { holdExclusiveLock } from "../../store/lock-file.ts";
import { makeFolder } from "../../store/make-folder.ts";
import type { ObjectFormat } from "../git.ts";
import { localEnvironment } from "./environment.ts";
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
  if (await isUsable(folder, format, stop)) return removeLeftovers(folder);
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

async function isUsable(folder: string, format: ObjectFormat, stop: Stop): Promise<boolean> {
  const args = ["rev-parse", "--is-bare-repository", "--show-object-format"];
  const { code, stdout } = await runGit(args, { folder, env: localEnvironment(folder), ...stop });
  return code === 0 && stdout === `true\n${format}\n`;
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
