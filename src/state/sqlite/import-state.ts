import { copyFile, mkdir, readFile, rename, rm } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import { HoldfastError } from "../../core/errors.ts";
import { lstatOrNull } from "../../files/lstat-or-null.ts";
import { createFile } from "../../files/write-file.ts";
import { unseal } from "../../seal/seal.ts";
import type { SealKey } from "../../seal/seal-key.ts";
import { makeFolder } from "../../store/make-folder.ts";
import type { StateTransfer, Transferred } from "../state.ts";
import { fileDigest, readIndex } from "./export-index.ts";
import { LEDGER_NAME, ledgerFolders } from "./ledger-folders.ts";
import { resealLedger } from "./reseal-ledger.ts";
import { sqliteStateAt } from "./sqlite-state.ts";

/**
 * Creates a state from an exported folder, sealed with the state's own key. A state that already has a ledger is
 * refused. The ledgers appear when all of them are complete; until then the state is locked against other writers.
 */
export async function importSqliteState(from: string, state: string, options: StateTransfer): Promise<Transferred> {
  const index = readIndex(from, options.exportKey);
  requireNoLedger(state);
  await makeFolder(state);
  const draft = join(state, "importing");
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { mode: 0o700 });
  try {
    for (const [file, digest] of index) await copyChecked(join(from, file), join(draft, file), digest);
    return await place(draft, state, [...index.keys()], options);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

function requireNoLedger(state: string): void {
  if (lstatOrNull(state) === null || ledgerFolders(state).length === 0) return;
  throw new HoldfastError("refused", `the state ${state} has a ledger already`, {
    hint: "name an empty folder with --state, or move that state away; nothing was changed",
  });
}

async function copyChecked(from: string, to: string, digest: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  await copyFile(from, to).catch((cause: unknown) => {
    throw new HoldfastError("invalid", `${from} is missing in the exported state`, { hint: "export it again", cause });
  });
  if ((await fileDigest(to)) === digest) return;
  throw new HoldfastError("invalid", `${from} was changed after it was exported`, { hint: "export it again" });
}

async function place(
  draft: string,
  state: string,
  files: readonly string[],
  options: StateTransfer,
): Promise<Transferred> {
  const { keyText, exportKey, clock, random } = options;
  const ledgers = files.filter((file) => basename(file) === LEDGER_NAME && !file.split(sep).includes("tokens"));
  const tokens = files.filter((file) => !ledgers.includes(file));
  await using stack = new AsyncDisposableStack();
  for (const ledger of ledgers) {
    const folder = join(state, dirname(ledger));
    if (dirname(ledger) !== ".") await makeFolder(folder);
    const opened = await stack.use(sqliteStateAt(folder, { clock, random })).open({ keyText });
    stack.use(await opened.lock());
    await resealLedger(join(draft, ledger), { from: exportKey, to: opened.key }, { clock });
  }
  for (const token of tokens) await placeToken(draft, state, token, exportKey);
  for (const ledger of ledgers) await rename(join(draft, ledger), join(state, ledger));
  return { ledgers: ledgers.length, tokens: tokens.length };
}

async function placeToken(draft: string, state: string, file: string, key: SealKey): Promise<void> {
  // The associated data of the seal is the file's name within its target.
  const name = file.slice(file.indexOf(`tokens${sep}`));
  await makeFolder(dirname(join(state, file)));
  createFile(join(state, file), unseal(key, await readFile(join(draft, file)), name).toString(), { durable: true });
}
