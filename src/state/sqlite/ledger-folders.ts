import { readdirSync } from "node:fs";
import { join } from "node:path";
import { lstatOrNull } from "../../files/lstat-or-null.ts";
import { ownDatabaseExists } from "../../files/own-database.ts";
import { createFile } from "../../files/write-file.ts";
import { makeFolder } from "../../store/make-folder.ts";
import { hasEarlierFiles } from "./earlier-files.ts";

/** A folder of a state that has its own ledger. */
export type LedgerFolder = {
  /** The target that it belongs to; null for the state's own folder. */
  readonly target: string | null;
  readonly folder: string;
};

/** The file name of a ledger. */
export const LEDGER_NAME = "ledger.db";

/** Every folder in a state that has a ledger: the state itself, and each of its targets. */
export function ledgerFolders(state: string): readonly LedgerFolder[] {
  return foldersOf(state).filter(({ folder }) => hasLedger(folder));
}

/** The same, with those where only an earlier release has stored something. */
export function storedFolders(state: string): readonly LedgerFolder[] {
  return foldersOf(state).filter(({ folder }) => hasLedger(folder) || hasEarlierFiles(folder));
}

/** Whether a folder has a ledger. */
export function hasLedger(folder: string): boolean {
  return ownDatabaseExists(join(folder, LEDGER_NAME));
}

function foldersOf(state: string): readonly LedgerFolder[] {
  const targets = join(state, "targets");
  const names = lstatOrNull(targets)?.isDirectory() ? readdirSync(targets).toSorted() : [];
  return [null, ...names].map((target) => ({ target, folder: ledgerFolder(state, target) }));
}

/** The folder of a target in a state; that of the state itself where none is named. */
export function ledgerFolder(state: string, target: string | null): string {
  return target === null ? state : join(state, "targets", target);
}

/** Creates a state folder (mode 0700, ignored by git) when absent. */
export async function makeStateFolder(folder: string): Promise<void> {
  await makeFolder(folder);
  createFile(join(folder, ".gitignore"), "*\n");
}
