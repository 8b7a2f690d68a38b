import type { Transaction } from "kysely";
import { isObject, type JsonObject, text } from "../../../contract/json.ts";
import { recordDisabled } from "../../auth/disabled-subjects.ts";
import { type Context, timestamp } from "../../context.ts";
import { markChanged } from "../../database/digests.ts";
import type { Tables } from "../../database/tables.ts";
import { readRowFields } from "../../snapshot/rows.ts";
import {
  type CopyOutcome,
  notCopied,
  type SnapshotPart,
  snapshotPart,
  snapshotPrincipal,
} from "../../snapshot/snapshot-part.ts";
import { assignToAccount } from "../secret-group/account-tokens.ts";
import { builtinSecretPath, disabledAccount, makeAccount } from "./account.ts";
import { accountSubjectType } from "./authenticate-account.ts";
import { findAccount, saveAccount } from "./rows.ts";

const ROWS = "virtualAccounts";

/** Copies a virtual account and its roles, without tokens, so that nobody can authenticate as it here. */
async function copyAccount(transaction: Transaction<Tables>, row: JsonObject, context: Context): Promise<CopyOutcome> {
  const { id, manifest, ...facts } = readRowFields(row, timestamp(context));
  const name = text(manifest.name) || text(row.name);
  if (!name) return notCopied("its manifest has no name");
  if ((await findAccount(transaction, name)) !== null) return { result: "exists" };
  const input = { manifest: { ...manifest, name }, existing: null, ...facts };
  const account = makeAccount(input, () => id ?? context.newId());
  const disabled_at = isObject(row.metadata) ? text(row.metadata.disabled) : undefined;
  if (disabled_at === undefined) {
    await saveAccount(transaction, account);
  } else {
    await recordDisabled(transaction, { subject: `${accountSubjectType}:${name}`, disabled_at });
    await saveAccount(transaction, disabledAccount(account, disabled_at));
  }
  const resource = `virtual-account/${name}`;
  await markChanged(transaction, resource, context);
  return { result: "copied", resource };
}

/** Copies virtual accounts; afterwards each is assigned the secret in which it stores its token. */
export const accountSnapshotPart: SnapshotPart = {
  ...snapshotPart("virtual-account", { rows: ROWS, operation: "putVirtualAccount", copy: copyAccount }),
  finish: async (transaction, snapshot) => {
    for (const { name, manifest } of snapshot[ROWS] ?? []) {
      const declared = isObject(manifest) ? manifest : {};
      const [account, path] = [text(declared.name) || text(name), builtinSecretPath(declared)];
      if (account && path !== null) await assignToAccount(transaction, { account, path, creator: snapshotPrincipal });
    }
  },
};
