import type { Transaction } from "kysely";
import { type JsonObject, text } from "../../../contract/json.ts";
import { type Context, timestamp } from "../../context.ts";
import type { Tables } from "../../database/tables.ts";
import { type Copied, refused } from "../../snapshot/copied.ts";
import { readFacts } from "../../snapshot/reading.ts";
import { makeAccount } from "./account.ts";
import { findAccount, saveAccount } from "./rows.ts";

/** Copies a virtual account and its roles; its tokens stay where they are, so that nobody can act as it here. */
export async function copyAccount(
  transaction: Transaction<Tables>,
  row: JsonObject,
  context: Context,
): Promise<Copied> {
  const { id, manifest, ...facts } = readFacts(row, timestamp(context));
  const name = text(manifest.name) || text(row.name);
  if (!name) return refused("its manifest lacks its name");
  if ((await findAccount(transaction, name)) !== null) return { result: "exists" };
  const making = { manifest: { ...manifest, name }, existing: null, ...facts };
  await saveAccount(
    transaction,
    makeAccount(making, () => id ?? context.newId()),
  );
  return { result: "copied", resource: `virtual-account/${name}` };
}
