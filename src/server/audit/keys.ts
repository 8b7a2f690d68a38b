import type { Kysely } from "kysely";
import { Secret } from "../../contract/secret.ts";
import { SealError, sealText, unsealText } from "../../seal/seal.ts";
import { deriveKey, type KeyRing, type SealKey } from "../../seal/seal-key.ts";
import type { Store } from "../../store/store.ts";
import type { Tables } from "../database/tables.ts";

/** The associated data of a sealed key of the audit. */
export function auditKeyAssociatedData(id: string): string {
  return `audit-key:${id}`;
}

/**
 * The key for a new chain. It follows from the newest key of the server, and is stored sealed: after a rotation, former
 * chains can still be verified.
 */
export async function auditKey(store: Store<Tables>, { newest }: KeyRing, now: string): Promise<SealKey> {
  const key = deriveKey(newest, "audit");
  const { version: id } = key;
  const known = await store.read.selectFrom("audit_keys").select("id").where("id", "=", id).executeTakeFirst();
  if (known !== undefined) return key;
  const sealed = sealText(newest, key.bytes.open(), auditKeyAssociatedData(id));
  await store.write(async (transaction) => {
    await transaction
      .insertInto("audit_keys")
      .values({ id, sealed, created_at: now })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  });
  return key;
}

/** The keys of all chains in the database, by their ids. */
export async function auditKeys(database: Kysely<Tables>, { all }: KeyRing): Promise<ReadonlyMap<string, SealKey>> {
  const rows = await database.selectFrom("audit_keys").select(["id", "sealed"]).execute();
  const keys = new Map<string, SealKey>();
  for (const { id, sealed } of rows) {
    try {
      const bytes = unsealText(all, sealed, auditKeyAssociatedData(id)).toString();
      keys.set(id, { version: id, bytes: new Secret(bytes) });
    } catch (error) {
      // Of a server key that is not here, or written by somebody who has none.
      if (!(error instanceof SealError)) throw error;
    }
  }
  return keys;
}
