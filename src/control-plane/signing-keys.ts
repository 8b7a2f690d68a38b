import { Secret } from "../contract/secret.ts";
import type { SealKey } from "../seal/key.ts";
import { open, seal } from "../seal/seal.ts";
import type { Store } from "../store/store.ts";
import type { Tables } from "./data/tables.ts";
import { createSigningKey, type SigningKey, signingKey } from "./tokens.ts";

/** The keys that sign tokens: the one for new tokens, and all whose tokens still count, by `kid`. */
export type SigningKeys = { readonly newest: SigningKey; readonly all: ReadonlyMap<string, SigningKey> };

/** Opens the keys that sign tokens, and makes the first one; fails when another server key sealed them. */
export async function openSigningKeys(store: Store<Tables>, sealKey: SealKey, now: () => number): Promise<SigningKeys> {
  const rows = await store.read.selectFrom("signing_keys").selectAll().orderBy("created_at", "desc").execute();
  const kept = await Promise.all(
    rows.map(({ kid, sealed }) => {
      const pkcs8 = open(sealKey, Buffer.from(sealed, "base64"), associated(kid)).toString("utf8");
      return signingKey(new Secret(pkcs8));
    }),
  );
  const newest = kept[0] ?? (await makeKey(store, sealKey, now));
  return { newest, all: new Map([newest, ...kept].map((key) => [key.kid, key])) };
}

async function makeKey(store: Store<Tables>, sealKey: SealKey, now: () => number): Promise<SigningKey> {
  const { key, pkcs8 } = await createSigningKey();
  const sealed = seal(sealKey, pkcs8.open(), associated(key.kid)).toString("base64");
  const row = { kid: key.kid, sealed, created_at: new Date(now()).toISOString() };
  await store.write((transaction) => transaction.insertInto("signing_keys").values(row).execute());
  return key;
}

function associated(kid: string): string {
  return `signing-key:${kid}`;
}
