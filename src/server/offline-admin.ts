import { join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { copyDatabase } from "../store/sqlite/copy-database.ts";
import { DATA_FILE, openContextWithoutJobs } from "./open-context.ts";
import type { ControlPlaneOptions } from "./options.ts";
import { revokeTokens } from "./resources/personal-access-token/revoke-subject-tokens.ts";

/** Revokes the tokens of these subjects in the database; a running server notices within a second. */
export async function revokeInDatabase(
  options: Pick<ControlPlaneOptions, "data" | "database" | "serverKey" | "serverKeyFile" | "log">,
  subjects: readonly string[],
): Promise<void> {
  await using stack = new AsyncDisposableStack();
  await revokeTokens(subjects, await openContextWithoutJobs(options, resolve(options.data), stack));
}

/** Copies the database of a data folder to a file, also while a server is running; returns the keys that the copy needs. */
export async function backUpDatabase(data: string, file: string): Promise<readonly string[]> {
  await copyDatabase(join(resolve(data), DATA_FILE), file);
  using copy = new DatabaseSync(file, { readOnly: true });
  const rows = copy.prepare("SELECT version FROM server_keys ORDER BY created_at DESC").all();
  return rows.map(({ version }) => String(version));
}
