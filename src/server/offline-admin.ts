import { join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Random } from "../clock/random.ts";
import { copyDatabase } from "../store/sqlite/copy-database.ts";
import { type AuditMark, type AuditVerification, verifyAudit } from "./audit/verify.ts";
import { logEnded } from "./auth/admin-token/register.ts";
import { addAdminToken, endAdminTokens, lockAdministrator, validAdminTokens } from "./auth/admin-token/rows.ts";
import { adminTokenFile, createAdminToken, readAdminTokens, writeAdminToken } from "./auth/admin-token/token-file.ts";
import { tokenHash } from "./auth/authenticate.ts";
import { DATA_FILE, openContextWithoutJobs } from "./open-context.ts";
import { type DataOptions, OptionsError } from "./options.ts";
import { type RevokedSubject, revokeTokens } from "./resources/personal-access-token/revoke-subject-tokens.ts";

/** Revokes the tokens of these subjects in the database; a running server notices within a second. */
export async function revokeInDatabase(
  options: DataOptions,
  subjects: readonly string[],
): Promise<readonly RevokedSubject[]> {
  await using stack = new AsyncDisposableStack();
  return await revokeTokens(subjects, await openContextWithoutJobs(options, resolve(options.data), stack));
}

/** Makes a new token of the administrator, in the file that it returns; the former one stays valid, and no earlier one. */
export async function rotateAdminTokenInDatabase(
  options: DataOptions,
): Promise<{ readonly file: string; readonly ended: number }> {
  await using stack = new AsyncDisposableStack();
  const context = await openContextWithoutJobs(options, resolve(options.data), stack);
  const file = adminTokenFile(context.folder);
  const inFile = new Set(readAdminTokens(file).map(tokenHash));
  const fresh = createAdminToken();
  const over = await context.store.write(async (transaction) => {
    await lockAdministrator(transaction, context);
    const valid = await validAdminTokens(transaction);
    // The one in the file is in use, even if a rotation was interrupted before its token was written there.
    const former = valid.find(({ hash }) => inFile.has(hash)) ?? valid[0];
    if (former === undefined) throw new OptionsError("no control plane has been started on this data yet");
    const earlier = valid.filter((token) => token !== former);
    await addAdminToken(transaction, fresh, context);
    return { ended: earlier, personal: await endAdminTokens(transaction, earlier, context) };
  });
  writeAdminToken(file, fresh);
  logEnded(over, context);
  return { file, ended: over.ended.length };
}

/** Ends the administrator's tokens but the newest one, and returns how many. */
export async function endFormerAdminTokensInDatabase(options: DataOptions): Promise<number> {
  await using stack = new AsyncDisposableStack();
  const context = await openContextWithoutJobs(options, resolve(options.data), stack);
  const over = await context.store.write(async (transaction) => {
    await lockAdministrator(transaction, context);
    const [, ...former] = await validAdminTokens(transaction);
    return { ended: former, personal: await endAdminTokens(transaction, former, context) };
  });
  logEnded(over, context);
  return over.ended.length;
}

/** Verifies the audit log of the database up to the newest checkpoints, those that are given included. */
export async function verifyAuditInDatabase(
  options: DataOptions,
  given: readonly AuditMark[],
): Promise<AuditVerification> {
  await using stack = new AsyncDisposableStack();
  return await verifyAudit(await openContextWithoutJobs(options, resolve(options.data), stack), given);
}

/** Copies the database of a data folder to a file, also while a server is running; returns the keys that the copy needs. */
export async function backUpDatabase(data: string, file: string, random: Random): Promise<readonly string[]> {
  await copyDatabase(join(resolve(data), DATA_FILE), file, random);
  using copy = new DatabaseSync(file, { readOnly: true });
  const rows = copy.prepare("SELECT version FROM server_keys ORDER BY created_at DESC").all();
  return rows.map(({ version }) => String(version));
}
