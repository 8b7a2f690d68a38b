import type { Transaction } from "kysely";
import { isObject, type JsonObject, text } from "../../../contract/json.ts";
import { type Context, timestamp } from "../../context.ts";
import type { Tables } from "../../database/tables.ts";
import { type Copied, copier, refused } from "../../snapshot/copied.ts";
import { partOf, type SnapshotPart } from "../../snapshot/part.ts";
import { readFacts } from "../../snapshot/reading.ts";
import { giveToAccount } from "../secret-group/account-tokens.ts";
import { builtinPath, makeAccount } from "./account.ts";
import { findAccount, saveAccount } from "./rows.ts";

const ROWS = "virtualAccounts";

/** Copies a virtual account and its roles; its tokens stay where they are, so that nobody can act as it here. */
async function copyAccount(transaction: Transaction<Tables>, row: JsonObject, context: Context): Promise<Copied> {
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

/** Copies virtual accounts; at the end each has the secret that it keeps its token in, as it has it there. */
export const accountsOfSnapshot: SnapshotPart = {
  ...partOf("virtual-account", { rows: ROWS, operation: "putVirtualAccount", copy: copyAccount }),
  finish: async (transaction, snapshot) => {
    for (const { name, manifest } of snapshot[ROWS] ?? []) {
      const declared = isObject(manifest) ? manifest : {};
      const [account, path] = [text(declared.name) || text(name), builtinPath(declared)];
      if (account && path !== null) await giveToAccount(transaction, { account, path, maker: copier });
    }
  },
};
