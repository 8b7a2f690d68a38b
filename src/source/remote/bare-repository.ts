import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Stop } from "../../clock/clock.ts";
import { HoldfastError } from "../../core/errors.ts";
import { ensureOwnFolder } from "../../files/own-folder.ts";
import { createFile, replaceFile } from "../../files/write-file.ts";
import { holdExclusiveLock } from "../../store/lock-file.ts";
import { makeFolder } from "../../store/make-folder.ts";
import { storageErrorAt } from "../../store/store-error.ts";
import type { ObjectFormat } from "../git/git.ts";
import type { Pace } from "../pacer.ts";
import { localEnvironment } from "./git-environment.ts";
import { runGit } from "./run-git.ts";

/** The interval between attempts to lock a repository that another process uses. */
const BUSY_MS = 50;

/** Locks a bare repository of ours against other processes; creates its folder if it is missing. */
export async function lockRepository(folder: string, { clock, signal }: Pace): Promise<AsyncDisposable> {
  await makeFolder(folder).catch((cause: unknown) => {
    if (!(cause instanceof Error && "syscall" in cause)) throw cause;
    throw new HoldfastError("error", `the repository of a source cannot be kept in ${storageErrorAt(folder, cause)}`, {
      hint: "nothing was sent: free disk space there, make it writable, or name another folder with --state",
      cause,
    });
  });
  // The folder may lie in a checkout.
  createFile(join(folder, ".gitignore"), "*\n");
  for (;;) {
    const lock = holdExclusiveLock(join(folder, "holdfast.db"));
    if (lock !== null) return lock;
    await clock.sleep(BUSY_MS, { signal });
  }
}

/**
 * Creates an empty bare repository if there is none, or removes the leftovers of a killed process from an existing one.
 */
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
  const result = await runGit(args, { folder, env: localEnvironment(folder), ...stop });
  if (result.code !== 0) throw new Error(`git init: ${result.stderr}`);
}

/** Removes everything that was fetched; the next fetch starts from scratch. */
export function clearRepository(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (name === "home" || name === ".gitignore" || name.startsWith("holdfast.db")) continue;
    rmSync(join(folder, name), { recursive: true, force: true });
  }
}

// Checked without git, since starting a process takes longer the more memory this one uses. Other damage makes the next
// git command fail.
function isUsable(folder: string, format: ObjectFormat): boolean {
  const config = textOf(join(folder, "config"));
  const isWhole = ["HEAD", "objects", "refs"].every((name) => existsSync(join(folder, name)));
  return (
    isWhole && /^\s*bare = true$/m.test(config) && /^\s*objectformat = sha256$/im.test(config) === (format === "sha256")
  );
}

/** The object id in a ref of a bare repository of ours; null if the ref does not exist. */
export function readRefFile(folder: string, ref: string): string | null {
  const loose = textOf(join(folder, ref)).trim();
  if (loose !== "") return loose;
  const packed = textOf(join(folder, "packed-refs")).split("\n");
  return packed.find((line) => line.endsWith(` ${ref}`))?.split(" ")[0] ?? null;
}

/** Writes a ref of a bare repository of ours; the object must exist. */
export function writeRefFile(folder: string, ref: string, id: string): void {
  const path = join(folder, ref);
  mkdirSync(dirname(path), { recursive: true });
  replaceFile(path, `${id}\n`);
}

/** The file with the name of the ref that was fetched last. */
const FOLLOWED = "holdfast-ref";

/** The name of the ref that a bare repository of ours follows; null if that is not known. */
export function followedRef(folder: string): string | null {
  return textOf(join(folder, FOLLOWED)).trim() || null;
}

/** Stores the name of the ref that a bare repository of ours follows from now on. */
export function followRef(folder: string, name: string): void {
  if (followedRef(folder) !== name) replaceFile(join(folder, FOLLOWED), `${name}\n`);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

// Only the holder of our lock works here, so every lock file of git belongs to a process that has ended.
function removeLeftovers(folder: string): void {
  mkdirSync(join(folder, "objects", "pack"), { recursive: true });
  const isLeftover = (name: string): boolean => /\.lock$|(?:^|\/)tmp_[^/]+$/.test(name);
  for (const below of ["refs", "objects/pack", "objects/info"]) {
    const names = readdirSync(join(folder, below), { recursive: true, encoding: "utf8" });
    for (const name of names.filter(isLeftover)) rmSync(join(folder, below, name), { force: true });
  }
  for (const name of readdirSync(folder).filter(isLeftover)) rmSync(join(folder, name), { force: true });
}
