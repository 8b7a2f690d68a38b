import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { HoldfastError } from "../../core/errors.ts";
import { readOwnFile } from "../../files/own-file.ts";
import { UnsafePathError } from "../../files/unsafe-path.ts";
import { checkWritable, createFile } from "../../files/write.ts";
import { generateKey, loadOrCreateKey, parseKey, readKeyFile, type SealKey } from "../../seal/key.ts";
import { holdExclusiveLock } from "../../store/lock-file.ts";
import { makeFolder } from "../../store/make-folder.ts";
import { isUnwritable, storageErrorAt, storageErrorText } from "../../store/store-error.ts";
import type { State, StateOptions } from "../state.ts";

// The file holds eight characters.
const MAX_HOLDER_BYTES = 1024;

/** Opens a state in a folder, making it (mode 0700, ignored by git) when absent. */
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
      // A command that reads the key alone loads no database.
      const { openFolderLedger } = await import("./open-ledger.ts");
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
    // What is sent must be journaled first: without room for that, it is better not to begin.
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
    hint: "nothing was sent: make room there, make it writable, or name another with --state",
    cause,
  });
}

/** The key of a state folder; null while there is no such folder, or none that can be used. */
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
  const file = join(folder, "holder");
  createFile(file, randomUUID().slice(0, 8));
  const id = (readOwnFile(file, { limit: MAX_HOLDER_BYTES }) ?? "").toString().trim();
  // A copy of the folder on another machine is another holder.
  return `${hostname().slice(0, 64)}:${folder.slice(-128)} (${id.slice(0, 8)})`.replaceAll(/\p{Cc}/gu, "?");
}

function lockFolder(folder: string): AsyncDisposable {
  const lock = holdExclusiveLock(join(folder, "lock.db"));
  if (lock === null) {
    throw new HoldfastError("locked", `another holdfast writes with the state folder ${folder}`, {
      hint: "wait until it ends, or stop it; one writer at a time keeps versions from being made twice",
    });
  }
  return lock;
}
