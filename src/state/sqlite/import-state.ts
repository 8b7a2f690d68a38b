import { copyFile, mkdir, readFile, rename, rm } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { HoldfastError } from "../../core/errors.ts";
import { lstatOrNull } from "../../files/lstat-or-null.ts";
import { createFile } from "../../files/write-file.ts";
import { unseal } from "../../seal/seal.ts";
import type { SealKey } from "../../seal/seal-key.ts";
import { makeFolder } from "../../store/make-folder.ts";
import type { StateTransfer, Transferred } from "../state.ts";
import { fileDigest, readIndex } from "./export-index.ts";
import { LEDGER_NAME, ledgerFolder, ledgerFolders, makeStateFolder } from "./ledger-folders.ts";
import { resealLedger } from "./reseal-ledger.ts";
import { sqliteStateAt } from "./sqlite-state.ts";

/** The ledger of one target in an exported state, copied to be changed. */
export type ImportedLedger = { readonly target: string | null; readonly path: string };

/** Where an exported state goes. Until it is committed, disposing leaves nothing there. */
export type LedgerDestination = AsyncDisposable & {
  /** Takes a ledger, sealed with the key of this state, so that nobody sees it yet. */
  readonly stage: (ledger: ImportedLedger) => Promise<void>;
  /** Makes all ledgers appear. */
  readonly commit: () => Promise<void>;
};

/** A state folder without a ledger, which is locked against other writers while it is filled. */
export async function emptyFolder(
  state: string,
  { keyText, exportKey, clock, random }: StateTransfer,
): Promise<LedgerDestination> {
  requireNoLedger(state);
  const locks = new AsyncDisposableStack();
  const staged: { readonly path: string; readonly folder: string }[] = [];
  return {
    stage: async ({ target, path }) => {
      const folder = ledgerFolder(state, target);
      await makeFolder(folder);
      const opened = await locks.use(sqliteStateAt(folder, { clock, random })).open({ keyText });
      locks.use(await opened.lock());
      await resealLedger(path, { from: exportKey, to: opened.key }, { clock });
      staged.push({ path, folder });
    },
    commit: async () => {
      for (const { path, folder } of staged) await rename(path, join(folder, LEDGER_NAME));
    },
    [Symbol.asyncDispose]: () => locks.disposeAsync(),
  };
}

/**
 * Creates a state from an exported folder. Its one-time tokens come into the state folder, also where the ledgers go to
 * a database.
 */
export async function importLedgers(
  from: string,
  state: string,
  { exportKey, open }: Pick<StateTransfer, "exportKey"> & { readonly open: () => Promise<LedgerDestination> },
): Promise<Transferred> {
  const index = readIndex(from, exportKey);
  await using destination = await open();
  await makeStateFolder(state);
  const draft = join(state, "importing");
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { mode: 0o700 });
  try {
    for (const [file, digest] of index) await copyChecked(join(from, file), join(draft, file), digest);
    const files = [...index.keys()].map(exportedFile);
    const ledgers = files.filter(({ name }) => name === LEDGER_NAME);
    const tokens = files.filter(({ name }) => name !== LEDGER_NAME);
    for (const { file, target } of ledgers) await destination.stage({ target, path: join(draft, file) });
    for (const token of tokens) await placeToken(draft, state, token, exportKey);
    await destination.commit();
    return { ledgers: ledgers.length, tokens: tokens.length };
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** A file of an exported state, and its name in the folder of its target. */
type ExportedFile = { readonly file: string; readonly target: string | null; readonly name: string };

function exportedFile(file: string): ExportedFile {
  const [first = "", target = "", ...rest] = file.split(sep);
  return first === "targets" ? { file, target, name: rest.join(sep) } : { file, target: null, name: file };
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

async function placeToken(draft: string, state: string, token: ExportedFile, key: SealKey): Promise<void> {
  const { file, name } = token;
  await makeFolder(dirname(join(state, file)));
  createFile(join(state, file), unseal(key, await readFile(join(draft, file)), name).toString(), { durable: true });
}
