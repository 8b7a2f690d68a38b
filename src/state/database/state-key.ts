import type { Kysely } from "kysely";
import { HoldfastError } from "../../core/errors.ts";
import { SealError, sealedVersion } from "../../seal/seal.ts";
import { parseKey, type SealKey } from "../../seal/seal-key.ts";
import { storageErrorText } from "../../store/store-error.ts";
import { OtherKeyError } from "../is-storage-error.ts";
import type { StateTables } from "./state-schema.ts";

const HINT =
  "provide the key that it was created with: HOLDFAST_STATE_KEY_FILE, or the file `key` where it is in a folder";

/** The key of a state as it is given to a command. */
export function givenKey(text: string): SealKey {
  try {
    return parseKey(text);
  } catch (cause) {
    throw new HoldfastError("invalid", `the key of the state cannot be used: ${storageErrorText(cause)}`, {
      hint: HINT,
      cause,
    });
  }
}

/**
 * Refuses a key that a state was not sealed with, so that nothing is written with it, and it is not reported as
 * corruption.
 */
export async function requireSealedWith(key: SealKey, database: Kysely<StateTables>, state: string): Promise<void> {
  requireKeyOf(await sealedValue(database), key, state);
}

/** Refuses a key that a value of a state was not sealed with. */
export function requireKeyOf(sealed: Uint8Array | null, key: SealKey, state: string): void {
  if (sealed !== null && sealedVersion(sealed) !== key.version) throw sealedWithAnotherKey(state);
}

/** Refuses a state that has sealed values, for a command that has no key. */
export async function requireUnsealed(database: Kysely<StateTables>, state: string): Promise<void> {
  if ((await sealedValue(database)) === null) return;
  throw new HoldfastError("invalid", `${state} is sealed with a key, and none is given`, { hint: HINT });
}

/** The error where a sealed value of a state cannot be unsealed; another error is returned as it is. */
export function unsealable(state: string, error: unknown): unknown {
  if (!(error instanceof SealError)) return error;
  if (error.code === "other-key") return sealedWithAnotherKey(state, error);
  return new HoldfastError("error", `${state}: a sealed value in it was changed`, { cause: error });
}

function sealedWithAnotherKey(state: string, cause?: SealError): HoldfastError {
  return new OtherKeyError("invalid", `${state} was sealed with another key`, { hint: HINT, cause });
}

// Every receipt and every intent has one.
async function sealedValue(database: Kysely<StateTables>): Promise<Uint8Array | null> {
  const row =
    (await database.selectFrom("receipt").select("sealed").limit(1).executeTakeFirst()) ??
    (await database.selectFrom("intent").select("sealed").limit(1).executeTakeFirst());
  return row?.sealed ?? null;
}
