import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { HoldfastError } from "../../core/errors.ts";
import { lstatOrNull } from "../../files/lstat-or-null.ts";
import { readOwnFile } from "../../files/read-own-file.ts";
import { seal } from "../../seal/seal.ts";
import type { SealKey } from "../../seal/seal-key.ts";
import { copyDatabase } from "../../store/sqlite/copy-database.ts";
import { unsealable } from "../database/state-key.ts";
import type { StateTransfer, Transferred } from "../state.ts";
import { fileDigest, writeIndex } from "./export-index.ts";
import { hasLedger, LEDGER_NAME, ledgerFolder, storedFolders } from "./ledger-folders.ts";
import { resealLedger } from "./reseal-ledger.ts";
import { existingKeyIn } from "./sqlite-state.ts";

/** A ledger that is exported. */
export type LedgerSource = {
  /** The target that it belongs to; null where none is named. */
  readonly target: string | null;
  /** Where it is, as messages name it. */
  readonly name: string;
  /** The folder of its one-time tokens. */
  readonly folder: string;
  /** Writes a copy, which nothing that happens meanwhile changes, to a new file, sealed with the export key. */
  readonly copyTo: (path: string) => Promise<void>;
};

/** The ledgers of a state folder. */
export function folderLedgers(state: string, options: StateTransfer): readonly LedgerSource[] {
  return storedFolders(state).map(({ target, folder }) => ({
    ...{ target, folder, name: folder },
    copyTo: (path) => copyLedger(folder, path, options),
  }));
}

async function copyLedger(
  folder: string,
  path: string,
  { keyText, exportKey, clock, random }: StateTransfer,
): Promise<void> {
  if (hasLedger(folder)) await copyDatabase(join(folder, LEDGER_NAME), path, random);
  await resealLedger(path, { from: await existingKeyIn(folder, keyText), to: exportKey }, { clock, folder });
  // Resealing leaves a backup of an older schema, which the state itself still has.
  const files = await readdir(dirname(path));
  for (const file of files) if (file.endsWith(".backup")) await rm(join(dirname(path), file));
}

/**
 * Copies ledgers, journals and one-time tokens of a state into a new folder, sealed with the export key. The folder
 * appears complete or not at all. Other processes may write to the state meanwhile.
 */
export async function exportLedgers(
  ledgers: readonly LedgerSource[],
  to: string,
  options: StateTransfer,
): Promise<Transferred> {
  if (lstatOrNull(to) !== null) {
    throw new HoldfastError("invalid", `${to} already exists`, { hint: "name a folder that does not exist yet" });
  }
  const draft = `${to}.${options.random.id()}.unfinished`;
  try {
    await mkdir(draft, { mode: 0o700 });
    let tokens = 0;
    for (const { target, name, folder, copyTo } of ledgers) {
      const place = ledgerFolder(draft, target);
      await mkdir(place, { recursive: true, mode: 0o700 });
      await copyTo(join(place, LEDGER_NAME)).catch((error: unknown) => {
        throw unsealable(`the state in ${name}`, error);
      });
      tokens += await exportTokens(folder, place, options.exportKey);
    }
    writeIndex(draft, options.exportKey, await digestsIn(draft));
    await rename(draft, to);
    return { ledgers: ledgers.length, tokens };
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
}

const MAX_TOKEN_BYTES = 1024 * 1024;

async function exportTokens(folder: string, to: string, key: SealKey): Promise<number> {
  const tokens = join(folder, "tokens");
  if (lstatOrNull(tokens) === null) return 0;
  const files = await filesIn(tokens);
  for (const file of files) {
    const name = join("tokens", file);
    const content = readOwnFile(join(folder, name), { limit: MAX_TOKEN_BYTES, isSecret: true });
    if (content === null) continue;
    await mkdir(dirname(join(to, name)), { recursive: true, mode: 0o700 });
    await writeFile(join(to, name), seal(key, content, name), { mode: 0o600, flush: true });
  }
  return files.length;
}

async function digestsIn(folder: string): Promise<ReadonlyMap<string, string>> {
  const digests = new Map<string, string>();
  for (const file of await filesIn(folder)) digests.set(file, await fileDigest(join(folder, file)));
  return digests;
}

async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}
