import { join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { copyDatabase } from "../store/sqlite/copy-database.ts";
import { endFormerAdminTokens, type Rotation, rotateAdminToken } from "./auth/admin-token/rotate.ts";
import { DATA_FILE, openContextWithoutJobs } from "./open-context.ts";
import type { ControlPlaneOptions } from "./options.ts";
import { type RevokedSubject, revokeTokens } from "./resources/personal-access-token/revoke-subject-tokens.ts";

/** Revokes the tokens of these subjects in the database; a running server notices within a second. */
export async function revokeInDatabase(
  options: DataOptions,
  subjects: readonly string[],
): Promise<readonly RevokedSubject[]> {
  await using stack = new AsyncDisposableStack();
  return await revokeTokens(subjects, await openContextWithoutJobs(options, resolve(options.data), stack));
}

/** What an offline command needs to open the data of a control plane. */
export type DataOptions = Pick<ControlPlaneOptions, "data" | "database" | "serverKey" | "serverKeyFile" | "log">;

/** Makes a new token of the administrator, in the file that it returns; the former one stays valid, and no earlier one. */
export async function rotateAdminTokenInDatabase(options: DataOptions): Promise<Rotation> {
  await using stack = new AsyncDisposableStack();
  return rotateAdminToken(await openContextWithoutJobs(options, resolve(options.data), stack));
}

/** Ends the administrator's tokens but the newest one, and returns how many. */
export async function endFormerAdminTokensInDatabase(options: DataOptions): Promise<number> {
  await using stack = new AsyncDisposableStack();
  return endFormerAdminTokens(await openContextWithoutJobs(options, resolve(options.data), stack));
}

/** Copies the database of a data folder to a file, also while a server is running; returns the keys that the copy needs. */
export async function backUpDatabase(data: string, file: string): Promise<readonly string[]> {
  await copyDatabase(join(resolve(data), DATA_FILE), file);
  using copy = new DatabaseSync(file, { readOnly: true });
  const rows = copy.prepare("SELECT version FROM server_keys ORDER BY created_at DESC").all();
  return rows.map(({ version }) => String(version));
}
