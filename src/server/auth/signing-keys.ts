import { Secret } from "../../contract/secret.ts";
import type { KeyRing } from "../../seal/key.ts";
import { seal, unsealWithAny } from "../../seal/seal.ts";
import type { Store } from "../../store/store.ts";
import type { Tables } from "../database/tables.ts";
import { createSigningKey, type FindSigningKey, type SigningKey, signingKey } from "./jwt.ts";

const DAY = 86_400_000;
const OLDEST_DAYS = 90;

/** The keys that sign the tokens of virtual accounts. */
export type SigningKeys = {
  /** The one for new tokens. */
  readonly newest: () => SigningKey;
  /** Any whose tokens may count still, those that another server made too. */
  readonly find: FindSigningKey;
  /** Makes a key for new tokens when the last one is old, or at once, and forgets those that no token needs. */
  readonly renew: (when: "old" | "now") => Promise<void>;
};

type Source = { readonly store: Store<Tables>; readonly keys: () => KeyRing; readonly now: () => number };
type Kept = { readonly key: SigningKey; readonly createdAt: number };

/** Opens the keys that sign tokens, and makes the first one. */
export async function openSigningKeys(source: Source): Promise<SigningKeys> {
  let kept = await readKeys(source);
  const [first = await makeKey(source)] = kept;
  let newest = first;
  const reload = async () => {
    kept = await readKeys(source);
    newest = kept[0] ?? newest;
  };
  const known = (kid: string) => [newest, ...kept].find(({ key }) => key.kid === kid)?.key ?? null;
  return {
    newest: () => newest.key,
    find: async (kid) => {
      if (known(kid) === null && (await isKept(source, kid))) await reload();
      return known(kid);
    },
    renew: async (when) => {
      await reload();
      if (when === "now" || newest.createdAt + OLDEST_DAYS * DAY <= source.now()) newest = await makeKey(source);
      await forgetUnused(source, newest);
      await reload();
    },
  };
}

/** What a signing key is sealed with besides the key. */
export function signingKeyAssociatedData(kid: string): string {
  return `signing-key:${kid}`;
}

async function readKeys({ store, keys }: Source): Promise<readonly Kept[]> {
  const rows = await store.read
    .selectFrom("signing_keys")
    .selectAll()
    .orderBy("created_at", "desc")
    .orderBy("kid")
    .execute();
  return Promise.all(
    rows.map(async ({ kid, sealed, created_at: createdAt }) => {
      const pkcs8 = unsealWithAny(keys().all, Buffer.from(sealed, "base64"), signingKeyAssociatedData(kid)).toString(
        "utf8",
      );
      return { key: await signingKey(new Secret(pkcs8)), createdAt: Date.parse(createdAt) };
    }),
  );
}

async function isKept({ store }: Source, kid: string): Promise<boolean> {
  const row = await store.read.selectFrom("signing_keys").select("kid").where("kid", "=", kid).executeTakeFirst();
  return row !== undefined;
}

async function makeKey({ store, keys, now }: Source): Promise<Kept> {
  const { key, pkcs8 } = await createSigningKey();
  const sealed = seal(keys().newest, pkcs8.open(), signingKeyAssociatedData(key.kid)).toString("base64");
  const createdAt = now();
  const row = { kid: key.kid, sealed, created_at: new Date(createdAt).toISOString() };
  await store.write(async (transaction) => void (await transaction.insertInto("signing_keys").values(row).execute()));
  return { key, createdAt };
}

// Within a day every server has heard of the new key, and signs with no other.
async function forgetUnused({ store, now }: Source, newest: Kept): Promise<void> {
  if (newest.createdAt + DAY > now()) return;
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
