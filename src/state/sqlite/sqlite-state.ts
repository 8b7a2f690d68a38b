import { randomUUID } from "node:crypto";
import { existsSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { HoldfastError } from "../../core/errors.ts";
import { timestampText } from "../../core/timestamp-text.ts";
import { readOwnFile } from "../../files/read-own-file.ts";
import { UnsafePathError } from "../../files/unsafe-path-error.ts";
import { checkWritable, createFile, replaceFile } from "../../files/write-file.ts";
import { replaceUnprintable } from "../../model/unprintable.ts";
import { generateKey, loadOrCreateKey, parseKey, readKeyFile, type SealKey } from "../../seal/seal-key.ts";
import { holdExclusiveLock, isLockHeld } from "../../store/lock-file.ts";
import { makeFolder } from "../../store/make-folder.ts";
import { isUnwritable, storageErrorAt, storageErrorText } from "../../store/store-error.ts";
import type { State, StateLock, StateOptions } from "../state.ts";

const HOLDER_NAME = "holder";
const LOCK_NAME = "lock.db";
const LOCKED_BY_NAME = "locked-by";
const MAX_TEXT_BYTES = 1024;

/** Opens a state in a folder; creates the folder (mode 0700, ignored by git) when absent. */
export async function openSqliteState(folder: string, options: StateOptions): Promise<State> {
  const { reading = false, onForgotten = () => undefined } = options;
  const { key, isWritable } = await openKey(folder, options);
  const place = { folder, key, isWritable, reading, onForgotten };
  return {
    key,
    isWritable,
    holder: async () => holderIn(folder),
    lock: async () => lockFolder(folder),
    ledger: async (server, options) => {
      // Imported here, so that commands that need only the key do not load the database.
      const { openFolderLedger } = await import("./open-folder-ledger.ts");
      return openFolderLedger(place, server, options);
    },
  };
}

async function openKey(
  folder: string,
  { keyText, reading = false, onForgotten = () => undefined }: StateOptions,
): Promise<Pick<State, "key" | "isWritable">> {
  try {
    await makeFolder(folder);
    createFile(join(folder, ".gitignore"), "*\n");
    // Every write is journaled before it is sent. Without disk space for that, the run must not start.
    if (!reading) checkWritable(folder);
    const key = keyText === null ? await loadOrCreateKey(join(folder, "key")) : parseKey(keyText);
    return { key, isWritable: true };
  } catch (cause) {
    if (cause instanceof UnsafePathError) throw cause;
    if (!reading || !isUnwritable(cause)) throw unusable(folder, cause);
    onForgotten("what this run learns", storageErrorAt(folder, cause));
    return { key: (await existingKeyIn(folder, { keyText })) ?? generateKey(), isWritable: false };
  }
}

function unusable(folder: string, cause: unknown): HoldfastError {
  return new HoldfastError("error", `the state folder ${folder} cannot be used: ${storageErrorText(cause)}`, {
    hint: "nothing was sent: free disk space there, make it writable, or name another folder with --state",
    cause,
  });
}

/** The key of a state folder; null if the folder or the key is missing, or the key cannot be used. */
export async function existingKeyIn(
  folder: string,
  { keyText }: Pick<StateOptions, "keyText">,
): Promise<SealKey | null> {
  if (!existsSync(folder)) return null;
  try {
    return keyText === null ? ((await readKeyFile(join(folder, "key")))?.newest ?? null) : parseKey(keyText);
  } catch (error) {
    if (error instanceof UnsafePathError) throw error;
    return null;
  }
}

function holderIn(folder: string): string {
  createFile(join(folder, HOLDER_NAME), randomUUID().slice(0, 8));
  // The host name makes a copy of the folder on another machine a different holder.
  return replaceUnprintable(`${hostname().slice(0, 64)}:${folder.slice(-128)} (${holderId(folder)})`);
}

function holderId(folder: string): string {
  return textIn(folder, HOLDER_NAME).slice(0, 8);
}

function textIn(folder: string, name: string): string {
  return (readOwnFile(join(folder, name), { limit: MAX_TEXT_BYTES }) ?? "").toString().trim();
}

/** Whether a process is writing with the state folder in a holder's name; null if that folder is not on this machine. */
export function isFolderHeld(holder: string): boolean | null {
  const [, host, folder = "", id] = /^(.*?):(\/.*) \(([\da-f]{8})\)$/.exec(holder) ?? [];
  try {
    if (host !== hostname().slice(0, 64) || holderId(folder) !== id) return null;
    return isFolderLocked(folder);
  } catch {
    // The folder belongs to another user, or cannot be read.
    return null;
  }
}

/** Whether a process is writing with a state folder. */
export function isFolderLocked(folder: string): boolean {
  return isLockHeld(join(folder, LOCK_NAME));
}

function lockFolder(folder: string): StateLock {
  const lock = holdExclusiveLock(join(folder, LOCK_NAME));
  const by = textIn(folder, LOCKED_BY_NAME);
  if (lock === null) {
    const who = by === "" ? "" : `: ${by}`;
    throw new HoldfastError("locked", `another holdfast process is using the state folder ${folder}${who}`, {
      hint: "wait until it ends, or stop it; with one writer at a time no version is created twice",
    });
  }
  const file = join(folder, LOCKED_BY_NAME);
  replaceFile(file, `process ${process.pid} on ${hostname()}, since ${timestampText(Date.now())}\n`);
  return {
    leftBy: by === "" ? null : by,
    [Symbol.asyncDispose]: async () => {
      rmSync(file, { force: true });
      await lock[Symbol.asyncDispose]();
    },
  };
}
