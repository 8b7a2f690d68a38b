import type { Clock } from "../clock/clock.ts";
import type { Random } from "../clock/random.ts";
import { Secret } from "../contract/secret.ts";
import { type Identity, splitIdentity } from "../core/manifest.ts";
import type { Sink } from "./token-sink.ts";

/** What a value is stored for: a resource, or the check of the store. */
export type StoreKey = {
  readonly kind: string;
  readonly name: string;
  /** Above 1 where the places before it hold other values. */
  readonly copy: number;
};

/**
 * A store of values by name. What its operations throw is shown, so it has no value, and nothing that the store has answered,
 * since that may quote a value.
 */
export type TokenStore = {
  /** What messages call it. */
  readonly title: string;
  /** Stores a value where nothing is; false if something is there, which stays. */
  readonly create: (key: StoreKey, value: Secret) => Promise<boolean>;
  /** The value; null if there is none. */
  readonly read: (key: StoreKey) => Promise<Secret | null>;
  readonly remove: (key: StoreKey) => Promise<void>;
  /** Where a value is, for people. */
  readonly locate: (key: StoreKey) => string;
};

/** As long as a token usually is. */
const CANARY_LENGTH = 2048;
/** A check takes several requests, and predicts what happens soon. */
const CHECK_VALID_MS = 1000;
/** A store of several machines may show a new value late. */
const READ_WAITS_MS = [100, 400, 1500] as const;
const MOST_COPIES = 1000;

/** A sink that stores tokens in a store of values by name. */
export function sinkOf(store: TokenStore, { clock, random }: { readonly clock: Clock; readonly random: Random }): Sink {
  let latest: { readonly done: Promise<void>; until: number } | null = null;
  return {
    // The result depends on the store, not on the name.
    check: () => {
      if (latest !== null && clock.monotonic() < latest.until) return latest.done;
      const check = { done: checkStore(store, { clock, random }), until: Number.POSITIVE_INFINITY };
      latest = check;
      check.done.then(
        () => {
          check.until = clock.monotonic() + CHECK_VALID_MS;
        },
        () => {
          check.until = 0;
        },
      );
      return check.done;
    },
    deliver: (identity, token) => storeToken(store, identity, token, clock),
  };
}

// Writes, reads and deletes a value that is no token.
async function checkStore(
  store: TokenStore,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): Promise<void> {
  const key: StoreKey = { kind: "check", name: random.id(), copy: 1 };
  const canary = new Secret(`holdfast-check-${key.name}-`.padEnd(CANARY_LENGTH, "0"));
  if (!(await store.create(key, canary))) {
    throw new Error(`${store.title} says that there is a value under a name that nobody has used`);
  }
  try {
    const found = await readAgain(store, key, canary, clock);
    if (found === null) throw new Error(`${store.title} accepts a value, and does not have it afterwards`);
    if (found.open() !== canary.open())
      throw new Error(`${store.title} accepts a value, and has another one afterwards`);
  } catch (error) {
    await store.remove(key).catch(() => undefined);
    throw error;
  }
  await store.remove(key);
  if ((await store.read(key)) !== null) throw new Error(`${store.title} does not delete what it is told to delete`);
}

// The loop ends at the first place that is free, or has this token: a run that was killed may have stored it.
async function storeToken(store: TokenStore, identity: Identity, token: Secret, clock: Clock): Promise<string> {
  const { kind, key: name } = splitIdentity(identity);
  for (let copy = 1; copy <= MOST_COPIES; copy += 1) {
    const key = { kind, name, copy };
    if (await isStoredAt(key, token, store, clock)) return store.locate(key);
  }
  throw new Error(`${store.title} has ${MOST_COPIES} other values for ${identity}: delete those that nobody uses`);
}

async function isStoredAt(key: StoreKey, token: Secret, store: TokenStore, clock: Clock): Promise<boolean> {
  let isCreated: boolean;
  try {
    isCreated = await store.create(key, token);
  } catch (error) {
    // It may be stored all the same, for example where only the reply was lost.
    const found = await store.read(key).catch(() => null);
    if (found?.open() === token.open()) return true;
    throw error;
  }
  const found = isCreated ? await readAgain(store, key, token, clock) : await store.read(key);
  if (found?.open() === token.open()) return true;
  if (isCreated)
    throw new Error(`${store.title} accepted the token for ${store.locate(key)}, and does not have it there`);
  return false;
}

async function readAgain(store: TokenStore, key: StoreKey, value: Secret, clock: Clock): Promise<Secret | null> {
  for (const wait of READ_WAITS_MS) {
    const found = await store.read(key);
    if (found?.open() === value.open()) return found;
    await clock.sleep(wait);
  }
  return store.read(key);
}
