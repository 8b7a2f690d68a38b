import type { Clock } from "../../clock/clock.ts";
import { Secret } from "../../contract/secret.ts";
import { sealText, unsealText } from "../../seal/seal.ts";
import type { KeyRing } from "../../seal/seal-key.ts";
import type { Store } from "../../store/store.ts";
import type { Tables } from "../database/tables.ts";
import { createSigningKey, type FindSigningKey, type SigningKey, signingKey } from "./jwt.ts";

const DAY = 86_400_000;
const MAX_AGE_DAYS = 90;

/** The keys that sign the tokens of virtual accounts. */
export type SigningKeys = {
  /** The key for new tokens. */
  readonly newest: () => SigningKey;
  /** A key whose tokens may be valid, also one that another server created. */
  readonly find: FindSigningKey;
  /** Creates a key when the newest one is old, or at once, and deletes keys that no token needs. */
  readonly renew: (when: "old" | "now") => Promise<void>;
};

type Source = { readonly store: Store<Tables>; readonly keys: () => KeyRing; readonly clock: Clock };
type StoredKey = { readonly key: SigningKey; readonly createdAt: number };

/** Loads the signing keys, and creates the first one. */
export async function openSigningKeys(source: Source): Promise<SigningKeys> {
  let stored = await readKeys(source);
  const [first = await createKey(source)] = stored;
  let newest = first;
  const reload = async () => {
    stored = await readKeys(source);
    newest = stored[0] ?? newest;
  };
  const known = (kid: string) => [newest, ...stored].find(({ key }) => key.kid === kid)?.key ?? null;
  return {
    newest: () => newest.key,
    find: async (kid) => {
      if (known(kid) === null && (await isStored(source, kid))) await reload();
      return known(kid);
    },
    renew: async (when) => {
      await reload();
      if (when === "now" || newest.createdAt + MAX_AGE_DAYS * DAY <= source.clock.now())
        newest = await createKey(source);
      await deleteUnused(source, newest);
      await reload();
    },
  };
}

/** The associated data of a sealed signing key. */
export function signingKeyAssociatedData(kid: string): string {
  return `signing-key:${kid}`;
}

async function readKeys({ store, keys }: Source): Promise<readonly StoredKey[]> {
  const rows = await store.read
    .selectFrom("signing_keys")
    .selectAll()
    .orderBy("created_at", "desc")
    .orderBy("kid")
    .execute();
  return Promise.all(
    rows.map(async ({ kid, sealed, created_at: createdAt }) => {
      const pkcs8 = unsealText(keys().all, sealed, signingKeyAssociatedData(kid)).toString();
      return { key: await signingKey(new Secret(pkcs8)), createdAt: Date.parse(createdAt) };
    }),
  );
}

async function isStored({ store }: Source, kid: string): Promise<boolean> {
  const row = await store.read.selectFrom("signing_keys").select("kid").where("kid", "=", kid).executeTakeFirst();
  return row !== undefined;
}

async function createKey({ store, keys, clock }: Source): Promise<StoredKey> {
  const { key, pkcs8 } = await createSigningKey();
  const sealed = sealText(keys().newest, pkcs8.open(), signingKeyAssociatedData(key.kid));
  const createdAt = clock.now();
  const row = { kid: key.kid, sealed, created_at: new Date(createdAt).toISOString() };
  await store.write(async (transaction) => void (await transaction.insertInto("signing_keys").values(row).execute()));
  return { key, createdAt };
}

// After a day every server signs with the new key alone.
async function deleteUnused({ store, clock }: Source, newest: StoredKey): Promise<void> {
  if (newest.createdAt + DAY > clock.now()) return;
  await store.write(async (transaction) => {
    const { kid } = newest.key;
    await transaction
      .deleteFrom("signing_keys")
      .where("kid", "!=", kid)
      .where(({ not, exists, selectFrom }) =>
        not(exists(selectFrom("jwts").select("id").whereRef("jwts.kid", "=", "signing_keys.kid"))),
      )
      .where(({ not, exists, selectFrom }) =>
        not(exists(selectFrom("jwts").select("id").where("jwts.kid", "is", null))),
      )
      .execute();
  });
}
