import type { Kysely } from "kysely";
import type { Clock } from "../../clock/clock.ts";
import type { Secret } from "../../contract/secret.ts";
import type { Log } from "../../log/log.ts";
import { SealError, sealText, unsealText } from "../../seal/seal.ts";
import {
  type KeyRing,
  loadOrCreateKey,
  parseKeys,
  readKeyFile,
  readOperatorKeyFile,
  SealKeyError,
} from "../../seal/seal-key.ts";
import type { Store } from "../../store/store.ts";
import type { Tables } from "../database/tables.ts";
import { reseal } from "./reseal.ts";

/** Where the server's key is: in the environment, in a file of the operator, or in the data folder. */
export type KeySource =
  | { readonly from: "text"; readonly text: Secret }
  | { readonly from: "file" | "own"; readonly path: string };

/** The keys that seal stored secrets. */
export type ServerKeys = {
  readonly current: () => KeyRing;
  /** Reads them again, and reseals values that were sealed with another key than the newest. */
  readonly refresh: () => Promise<void>;
};

/** Loads the keys; fails before any change when the data was sealed with a key that is missing. */
export async function openServerKeys({
  source,
  store,
  clock,
  log,
}: {
  readonly source: KeySource;
  readonly store: Store<Tables>;
  readonly clock: Clock;
  readonly log: Log;
}): Promise<ServerKeys> {
  const known = await knownKeys(store.read);
  let ring = await readSource(source, known);
  requireKeys(ring, known);
  await registerKey(store, ring, clock);
  // Of two servers that start on an empty database with different keys, one must fail.
  requireKeys(ring, await knownKeys(store.read));
  let sweeps = ring.all.length > 1 ? sweepsFrom(clock.now()) : [];
  const refresh = async () => {
    const before = await knownKeys(store.read);
    const read = await readSource(source, before);
    requireKeys(read, before);
    if (read.newest.version !== ring.newest.version) {
      log.info({ event: "key-replaced", key: read.newest.version }, "a new key seals from now on");
      sweeps = sweepsFrom(clock.now());
    }
    ring = read;
    await registerKey(store, ring, clock);
    const [newest, ...others] = await knownKeys(store.read);
    // While servers change keys at different times, only one with the newest key reseals.
    if (newest?.version !== ring.newest.version) return;
    const isDue = sweeps.some((moment) => moment <= clock.now());
    if (others.length === 0 && !isDue) return;
    sweeps = sweeps.filter((moment) => moment > clock.now());
    const count = await reseal(store, ring);
    if (others.length === 0 && count === 0) return;
    await deleteKeys(store, others);
    const former = others.map(({ version }) => version);
    log.info(
      { event: "key-rotated", key: ring.newest.version, former, count },
      "everything is sealed with the new key",
    );
  };
  return { current: () => ring, refresh };
}

// Longer than any write, so that the second sweep finds values that were written during the first.
const LATE_MS = 30_000;

/**
 * When to search for values sealed with a former key although none is registered: another server may have deleted the
 * registration while this one was still using the key.
 */
function sweepsFrom(now: number): readonly number[] {
  return [now, now + LATE_MS];
}

async function readSource(source: KeySource, known: readonly Tables["server_keys"][]): Promise<KeyRing> {
  if (source.from === "text") return parseKeys(source.text.open());
  if (source.from === "file") return readOperatorFile(source.path, known);
  const existing = await readKeyFile(source.path);
  if (existing !== null) return existing;
  // A new key could not unseal the existing data.
  if (known.length > 0) throw noKey(source.path, known);
  const created = await loadOrCreateKey(source.path);
  return { newest: created, all: [created] };
}

async function readOperatorFile(path: string, known: readonly Tables["server_keys"][]): Promise<KeyRing> {
  try {
    return await readOperatorKeyFile(path);
  } catch (cause) {
    if (!(cause instanceof Error && "code" in cause && cause.code === "ENOENT")) throw cause;
    throw noKey(path, known, cause);
  }
}

function noKey(path: string, known: readonly Tables["server_keys"][], cause?: unknown): SealKeyError {
  return new SealKeyError(`${path}: there is no key${neededText(known)}`, { cause });
}

/** The registered keys, the newest first. */
async function knownKeys(database: Kysely<Tables>): Promise<readonly Tables["server_keys"][]> {
  return database.selectFrom("server_keys").selectAll().orderBy("created_at", "desc").orderBy("version").execute();
}

function requireKeys({ all }: KeyRing, known: readonly Tables["server_keys"][]): void {
  for (const { version, sealed } of known) {
    try {
      unsealText(all, sealed, keyContext(version));
    } catch (cause) {
      if (!(cause instanceof SealError)) throw cause;
      throw new SealKeyError(`the data was sealed with another key${neededText([{ version }])}`, { cause });
    }
  }
}

function neededText(known: readonly { readonly version: string }[]): string {
  if (known.length === 0) return "";
  return `: give the one it was sealed with (${known.map(({ version }) => version).join(", ")}); a new key, if any, comes before it`;
}

async function registerKey(store: Store<Tables>, { newest }: KeyRing, clock: Clock): Promise<void> {
  const { version } = newest;
  const row = await store.read.selectFrom("server_keys").select("version").where("version", "=", version).execute();
  if (row.length > 0) return;
  const sealed = sealText(newest, "holdfast", keyContext(version));
  const values = { version, sealed, created_at: new Date(clock.now()).toISOString() };
  await store.write(async (transaction) => {
    await transaction
      .insertInto("server_keys")
      .values(values)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  });
}

async function deleteKeys(store: Store<Tables>, keys: readonly Tables["server_keys"][]): Promise<void> {
  await store.write(async (transaction) => {
    for (const { version } of keys)
      await transaction.deleteFrom("server_keys").where("version", "=", version).execute();
  });
}

function keyContext(version: string): string {
  return `server-key:${version}`;
}
