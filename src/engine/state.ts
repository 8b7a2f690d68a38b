import { existsSync } from "node:fs";
import { join } from "node:path";
import { HoldfastError } from "../core/errors.ts";
import { UnsafePathError } from "../files/unsafe-path.ts";
import { createFile } from "../files/write.ts";
import { keyFrom, loadKey, readKeys, type SealKey } from "../seal/key.ts";
import { makeFolder } from "../store/folder.ts";
import { holdExclusiveLock } from "../store/lock.ts";

/** The folder with ledger, journal and tokens. */
export type State = {
  readonly folder: string;
  readonly key: SealKey;
};

/** Opens the state folder, making it (mode 0700, ignored by git) when absent. */
export async function openState(folder: string, { keyText }: { readonly keyText: string | null }): Promise<State> {
  try {
    await makeFolder(folder);
    createFile(join(folder, ".gitignore"), "*\n");
    const key = keyText === null ? await loadKey(join(folder, "key")) : keyFrom(keyText);
    return { folder, key };
  } catch (cause) {
    if (cause instanceof UnsafePathError) throw cause;
    throw new HoldfastError("error", `the state folder ${folder} cannot be used: ${reason(cause)}`, {
      hint: "make it writable, or name another with --state",
      cause,
    });
  }
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

function reason(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
