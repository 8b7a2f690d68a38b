import { existsSync } from "node:fs";
import { join } from "node:path";
import { HoldfastError } from "../../core/errors.ts";
import { UnsafePathError } from "../../files/unsafe-path.ts";
import { createFile, tryWriting } from "../../files/write.ts";
import { freshKey, keyFrom, loadKey, readKeys, type SealKey } from "../../seal/key.ts";
import { makeFolder } from "../../store/folder.ts";
import { holdExclusiveLock } from "../../store/lock.ts";
import { isUnwritable, unusableAt, whyUnusable } from "../../store/store-error.ts";

/** Told what a run cannot remember for the next one, and why: the path and the cause. */
export type OnForgotten = (what: string, why: string) => void;

/** The folder with ledger, journal and tokens. */
export type State = {
  readonly folder: string;
  readonly key: SealKey;
  /** False where nothing can be kept in it; only a run that writes nothing goes on then. */
  readonly isWritable: boolean;
};

/** How a state folder is opened. */
export type StateUse = {
  /** The key that seals; null where the folder keeps one. */
  readonly keyText: string | null;
  /** Whether nothing will be written to the control plane. @default false */
  readonly reading?: boolean;
  readonly onForgotten?: OnForgotten;
};

/** Opens the state folder, making it (mode 0700, ignored by git) when absent. */
export async function openState(
  folder: string,
  { keyText, reading = false, onForgotten = () => undefined }: StateUse,
): Promise<State> {
  try {
    await makeFolder(folder);
    createFile(join(folder, ".gitignore"), "*\n");
    // What is sent must be journaled first: without room for that, it is better not to begin.
    if (!reading) tryWriting(folder);
    const key = keyText === null ? await loadKey(join(folder, "key")) : keyFrom(keyText);
    return { folder, key, isWritable: true };
  } catch (cause) {
    if (cause instanceof UnsafePathError) throw cause;
    if (!reading || !isUnwritable(cause)) throw unusable(folder, cause);
    onForgotten("what this run learns", unusableAt(folder, cause));
    return { folder, key: (await existingKey(folder, { keyText })) ?? freshKey(), isWritable: false };
  }
}

function unusable(folder: string, cause: unknown): HoldfastError {
  return new HoldfastError("error", `the state folder ${folder} cannot be used: ${whyUnusable(cause)}`, {
    hint: "nothing was sent: make room there, make it writable, or name another with --state",
    cause,
  });
}

/** The key of a state folder; null while there is no such folder, or none that can be used. */
export async function existingKey(
  folder: string,
  { keyText }: { readonly keyText: string | null },
): Promise<SealKey | null> {
  if (!existsSync(folder)) return null;
  try {
    return keyText === null ? ((await readKeys(join(folder, "key")))?.newest ?? null) : keyFrom(keyText);
  } catch (error) {
    if (error instanceof UnsafePathError) throw error;
    return null;
  }
}

/** Holds the state folder for writing until disposed of; fails when another process holds it. */
export function lockState({ folder }: State): AsyncDisposable {
  const lock = holdExclusiveLock(join(folder, "lock.db"));
  if (lock === null) {
    throw new HoldfastError("locked", `another holdfast writes with the state folder ${folder}`, {
      hint: "wait until it ends, or stop it; one writer at a time keeps versions from being made twice",
    });
  }
  return lock;
}
