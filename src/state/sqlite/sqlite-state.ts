import { existsSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import type { Clock } from "../../clock/clock.ts";
import { HoldfastError } from "../../core/errors.ts";
import { timestampText } from "../../core/timestamp-text.ts";
import { lstatOrNull } from "../../files/lstat-or-null.ts";
import { ownDatabaseExists } from "../../files/own-database.ts";
import { readOwnFile } from "../../files/read-own-file.ts";
import { UnsafePathError } from "../../files/unsafe-path-error.ts";
import { checkWritable, replaceFile } from "../../files/write-file.ts";
import { replaceUnprintable } from "../../model/unprintable.ts";
import { generateKey, loadOrCreateKey, parseKey, readKeyFile, type SealKey } from "../../seal/seal-key.ts";
import { holdExclusiveLock, isLockHeld } from "../../store/lock-file.ts";
import { openToRead } from "../../store/sqlite/open-connection.ts";
import { isUnwritable, storageErrorAt, storageErrorText } from "../../store/store-error.ts";
import { givenKey, requireUnsealed } from "../database/state-key.ts";
import type { OnForgotten, State, StateAccess, StateAccessOptions, StateLock } from "../state.ts";
import { cacheFile } from "./cache-file.ts";
import { LEDGER_NAME, makeStateFolder } from "./ledger-folders.ts";
import type { FolderDatabase } from "./state-database.ts";

const LOCK_NAME = "lock.db";
const KEY_NAME = "key";
const LOCKED_BY_NAME = "locked-by";
const MAX_TEXT_BYTES = 1024;

/** The state of a folder. */
export function sqliteStateAt(folder: string, options: StateAccessOptions): StateAccess {
  let isOurs = false;
  // Imported at the first use, so that commands that need only the key do not load the database.
  let database: Promise<FolderDatabase> | null = null;
  const opened = (): Promise<FolderDatabase> => {
    database ??= import("./state-database.ts").then(({ folderDatabase }) =>
      folderDatabase(folder, {
        ...options,
        isLockedByOther: () => !isOurs && isFolderLocked(folder),
        readKey: async () => {
          const keyText = options.readKey?.() ?? null;
          return keyText === null ? existingKeyIn(folder, null) : givenKey(keyText);
        },
      }),
    );
    return database;
  };
  const lock = async (): Promise<StateLock> => {
    const taken = lockFolder(folder, options.clock);
    isOurs = true;
    return {
      leftBy: taken.leftBy,
      number: null,
      [Symbol.asyncDispose]: async () => {
        isOurs = false;
        await taken[Symbol.asyncDispose]();
      },
    };
  };
  // A new key must not appear beside a ledger that another one has sealed.
  const requireKeyFile = async (): Promise<void> => {
    if (lstatOrNull(join(folder, KEY_NAME)) !== null || !ownDatabaseExists(join(folder, LEDGER_NAME))) return;
    const store = await (await opened()).readable();
    if (store !== null) await requireUnsealed(store.read, `the state in ${folder}`);
  };
  return {
    target: async () => {
      const { storedTarget } = await import("../database/target-store.ts");
      return storedTarget(await opened());
    },
    recorded: async () => {
      const { recordedNames } = await import("../database/state-database.ts");
      return recordedNames(await opened());
    },
    exists: async () => existsSync(join(folder, LEDGER_NAME)),
    isLocked: async () => isFolderLocked(folder),
    open: async ({ keyText, reading = false }) => {
      const { onForgotten = () => undefined } = options;
      const given = keyText === null ? null : givenKey(keyText);
      if (given === null) await requireKeyFile();
      const { key, isWritable } = await openKey(folder, { given, reading, onForgotten });
      return {
        key,
        isWritable,
        lock,
        formerHolder: async () => null,
        holder: async () => {
          const { holderId } = await import("../database/state-database.ts");
          return holderName(folder, await holderId(await opened(), options.random));
        },
        ledger: async (server) => {
          const { openFolderLedger } = await import("./open-folder-ledger.ts");
          return openFolderLedger(await opened(), { folder, server, key, isWritable, reading, onForgotten });
        },
        cache: (name, about) => cacheFile(join(folder, "cache", name), { key, about, clock: options.clock }),
      };
    },
    [Symbol.asyncDispose]: async () => (await database)?.[Symbol.asyncDispose](),
  };
}

async function openKey(
  folder: string,
  {
    given,
    reading,
    onForgotten,
  }: { readonly given: SealKey | null; readonly reading: boolean; readonly onForgotten: OnForgotten },
): Promise<Pick<State, "key" | "isWritable">> {
  try {
    await makeStateFolder(folder);
    // Every write is journaled before it is sent. Without disk space for that, the run must not start.
    if (!reading) checkWritable(folder);
    return { key: given ?? (await loadOrCreateKey(join(folder, KEY_NAME))), isWritable: true };
  } catch (cause) {
    if (cause instanceof UnsafePathError) throw cause;
    if (!reading || !isUnwritable(cause)) throw unusable(folder, cause);
    onForgotten("what this run learns", storageErrorAt(folder, cause));
    return { key: given ?? (await existingKeyIn(folder, null)) ?? generateKey(), isWritable: false };
  }
}

function unusable(folder: string, cause: unknown): HoldfastError {
  return new HoldfastError("error", `the state folder ${folder} cannot be used: ${storageErrorText(cause)}`, {
    hint: "nothing was sent: free disk space there, make it writable, or name another folder with --state",
    cause,
  });
}

/** The key of a state folder; null if the folder or the key is missing, or the key cannot be used. */
export async function existingKeyIn(folder: string, keyText: string | null): Promise<SealKey | null> {
  if (!existsSync(folder)) return null;
  try {
    return keyText === null ? ((await readKeyFile(join(folder, KEY_NAME)))?.newest ?? null) : parseKey(keyText);
  } catch (error) {
    if (error instanceof UnsafePathError) throw error;
    return null;
  }
}

// The host name makes a copy of the folder on another machine a different holder.
function holderName(folder: string, id: string): string {
  return replaceUnprintable(`${hostname().slice(0, 64)}:${folder.slice(-128)} (${id})`);
}

/** Whether a process is writing with the state folder in a holder's name; null if that folder is not on this machine. */
export function isFolderHeld(holder: string): boolean | null {
  const [, host, folder = "", id] = /^(.*?):(\/.*) \(([\da-f]{8})\)$/.exec(holder) ?? [];
  try {
    if (host !== hostname().slice(0, 64) || storedHolderId(folder) !== id) return null;
    return isFolderLocked(folder);
  } catch {
    // The folder belongs to another user, or cannot be read.
    return null;
  }
}

function storedHolderId(folder: string): string | null {
  const path = join(folder, LEDGER_NAME);
  if (!ownDatabaseExists(path)) return null;
  using database = openToRead(path);
  const row = database.prepare("SELECT id FROM holder").get();
  return row === undefined ? null : String(row.id);
}

function isFolderLocked(folder: string): boolean {
  return isLockHeld(join(folder, LOCK_NAME));
}

function textIn(folder: string, name: string): string {
  return (readOwnFile(join(folder, name), { limit: MAX_TEXT_BYTES }) ?? "").toString().trim();
}

function lockFolder(folder: string, clock: Clock): StateLock {
  const lock = holdExclusiveLock(join(folder, LOCK_NAME));
  const by = textIn(folder, LOCKED_BY_NAME);
  if (lock === null) {
    const who = by === "" ? "" : `: ${by}`;
    throw new HoldfastError("locked", `another holdfast process is using the state folder ${folder}${who}`, {
      hint: "wait until it ends, or stop it; with one writer at a time no version is created twice",
    });
  }
  const file = join(folder, LOCKED_BY_NAME);
  replaceFile(file, `process ${process.pid} on ${hostname()}, since ${timestampText(clock.now())}\n`);
  return {
    leftBy: by === "" ? null : by,
    number: null,
    [Symbol.asyncDispose]: async () => {
      rmSync(file, { force: true });
      await lock[Symbol.asyncDispose]();
    },
  };
}
