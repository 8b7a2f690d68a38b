// src/server/secrets: the values of secrets, encrypted. See docs/control-plane.md#the-servers-key.

import type { Kysely, Transaction } from "kysely";
import { sealedVersion, sealText, unsealText } from "../../seal/seal.ts";
import type { KeyRing } from "../../seal/seal-key.ts";
import type { Store } from "../../store/store.ts";
import { auditKeyAssociatedData } from "../audit/keys.ts";
import { signingKeyAssociatedData } from "../auth/signing-keys.ts";
import type { Tables } from "../database/tables.ts";
import { valueAssociatedData } from "../resources/secret-group/values.ts";

// A larger batch would block other writers.
const BATCH = 100;

type SealedRow = { readonly id: string; readonly sealed: string; readonly context: string };

const tables: readonly {
  readonly page: (database: Kysely<Tables>, after: string) => Promise<readonly SealedRow[]>;
  readonly replace: (transaction: Transaction<Tables>, row: SealedRow, sealed: string) => Promise<void>;
}[] = [
  {
    page: async (database, after) => {
      const rows = await database
        .selectFrom("secret_versions")
        .select(["id", "secret_id as secretId", "version", "sealed"])
        .where("id", ">", after)
        .orderBy("id")
        .limit(BATCH)
        .execute();
      return rows.map(({ id, sealed, secretId, version }) => ({
        id,
        sealed,
        context: valueAssociatedData({ secretId, version: Number(version) }),
      }));
    },
    replace: async (transaction, { id, sealed: former }, sealed) => {
      const update = transaction.updateTable("secret_versions").set({ sealed });
      await update.where("id", "=", id).where("sealed", "=", former).execute();
    },
  },
  {
    page: async (database, after) => {
      const rows = await database
        .selectFrom("signing_keys")
        .select(["kid", "sealed"])
        .where("kid", ">", after)
        .orderBy("kid")
        .limit(BATCH)
        .execute();
      return rows.map(({ kid, sealed }) => ({ id: kid, sealed, context: signingKeyAssociatedData(kid) }));
    },
    replace: async (transaction, { id, sealed: former }, sealed) => {
      const update = transaction.updateTable("signing_keys").set({ sealed });
      await update.where("kid", "=", id).where("sealed", "=", former).execute();
    },
  },
  {
    page: async (database, after) => {
      const rows = await database
        .selectFrom("audit_keys")
        .select(["id", "sealed"])
        .where("id", ">", after)
        .orderBy("id")
        .limit(BATCH)
        .execute();
      return rows.map(({ id, sealed }) => ({ id, sealed, context: auditKeyAssociatedData(id) }));
    },
    replace: async (transaction, { id, sealed: former }, sealed) => {
      const update = transaction.updateTable("audit_keys").set({ sealed });
      await update.where("id", "=", id).where("sealed", "=", former).execute();
    },
  },
];

/** Seals with the newest key what was sealed with another one, in batches; returns the number of values. */
export async function reseal(store: Store<Tables>, ring: KeyRing): Promise<number> {
  let count = 0;
  for (const table of tables) {
    for (let after: string | undefined = ""; after !== undefined; ) {
      const rows: readonly SealedRow[] = await table.page(store.read, after);
      const stale = rows.filter(({ sealed }) => sealedVersion(Buffer.from(sealed, "base64")) !== ring.newest.version);
      if (stale.length > 0) {
        await store.write(async (transaction) => {
          for (const row of stale) await table.replace(transaction, row, resealed(row, ring));
        });
      }
      count += stale.length;
      after = rows.at(-1)?.id;
    }
  }
  return count;
}

function resealed({ sealed, context }: SealedRow, { newest, all }: KeyRing): string {
  return sealText(newest, unsealText(all, sealed, context), context);
}
