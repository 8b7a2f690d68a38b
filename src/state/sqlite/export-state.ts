import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { HoldfastError } from "../../core/errors.ts";
import { lstatOrNull } from "../../files/lstat-or-null.ts";
import { readOwnFile } from "../../files/read-own-file.ts";
import { seal } from "../../seal/seal.ts";
import type { SealKey } from "../../seal/seal-key.ts";
import { copyDatabase } from "../../store/sqlite/copy-database.ts";
import type { StateTransfer, Transferred } from "../state.ts";
import { fileDigest, writeIndex } from "./export-index.ts";
import { hasLedger, LEDGER_NAME, storedFolders } from "./ledger-folders.ts";
import { resealLedger } from "./reseal-ledger.ts";
import { existingKeyIn } from "./sqlite-state.ts";

/**
 * Copies ledgers, journals and one-time tokens of a state into a new folder, sealed with the export key. The folder
 * appears complete or not at all. Other processes may write to the state meanwhile.
 */
export async function exportSqliteState(state: string, to: string, options: StateTransfer): Promise<Transferred> {
  if (lstatOrNull(to) !== null) {
    throw new HoldfastError("invalid", `${to} already exists`, { hint: "name a folder that does not exist yet" });
  }
  const ledgers = storedFolders(state);
  if (ledgers.length === 0) {
    throw new HoldfastError("invalid", `there is no ledger in ${state}`, { hint: "name the state with --state" });
  }
  const draft = `${to}.${options.random.id()}.unfinished`;
  try {
    await mkdir(draft, { mode: 0o700 });
    let tokens = 0;
    for (const { folder } of ledgers) {
      const place = join(draft, relative(state, folder));
      await mkdir(place, { recursive: true, mode: 0o700 });
      await exportLedger(folder, place, options);
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

async function exportLedger(
  folder: string,
  to: string,
  { keyText, exportKey, clock, random }: StateTransfer,
): Promise<void> {
  const key = await existingKeyIn(folder, keyText);
  const copy = join(to, LEDGER_NAME);
  if (hasLedger(folder)) await copyDatabase(join(folder, LEDGER_NAME), copy, random);
  await resealLedger(copy, { from: key, to: exportKey }, { clock, folder });
  // Resealing leaves a backup of an older schema, which the state itself still has.
  for (const name of await readdir(to)) if (name.endsWith(".backup")) await rm(join(to, name));
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
