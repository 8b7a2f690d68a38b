import { resolve } from "node:path";
import { exitCodes, HoldfastError } from "../core/errors.ts";
import { FORMAT_VERSION } from "../core/format-version.ts";
import { count } from "../render/count-text.ts";
import { jsonText, printable } from "../render/escape.ts";
import { stdoutFormat } from "../render/output-format.ts";
import { type StateReport, stateText } from "../render/state-check.ts";
import { wrappedLines } from "../render/wrap.ts";
import { parseKey, readOperatorKeyFile, type SealKey, SealKeyError } from "../seal/seal-key.ts";
import { checkState } from "../state/check-state.ts";
import type { CheckedLedger } from "../state/checked-ledger.ts";
import { exportState, importState, type WholeState } from "../state/open-state.ts";
import { publicAddress } from "../store/postgres/address.ts";
import type { InvocationOf } from "./command.ts";
import { stateFolder } from "./configuration/data-folder.ts";
import { stateDatabase } from "./configuration/state-database.ts";
import type { state } from "./declarations/state.ts";
import { toHoldfastError } from "./errors/to-holdfast-error.ts";
import { readStateKey } from "./targets/target-state.ts";
import { columnsOn, say, type Terminal, writeResult } from "./terminal.ts";

type StateInvocation = InvocationOf<typeof state>;

/** Checks, exports or imports the state. */
export async function run(invocation: StateInvocation): Promise<number> {
  const [action = "", folder, ...more] = invocation.args;
  const isMove = folder !== undefined && more.length === 0;
  if (action === "check" && folder === undefined) return check(invocation);
  if (action === "export" && isMove) return transfer(invocation, "export", folder);
  if (action === "import" && isMove) return transfer(invocation, "import", folder);
  throw new HoldfastError("invalid", "state needs check, export FOLDER or import FOLDER", {
    hint: "holdfast state --help has examples",
  });
}

async function check(invocation: StateInvocation): Promise<number> {
  const { flags, terminal } = invocation;
  const state = await stateOf(invocation);
  const ledgers = await checkedLedgers(state, terminal);
  const diagnostics = terminal.warnings.all();
  const report: StateReport = { format_version: FORMAT_VERSION, state: placeOf(state), ledgers, diagnostics };
  const isJson = stdoutFormat(flags.output) === "json";
  await writeResult(terminal, isJson ? jsonText(report) : wrappedLines(stateText(report), columnsOn(terminal.stdout)));
  return report.ledgers.every(({ problem }) => problem === null) ? 0 : exitCodes.error;
}

async function stateOf(invocation: StateInvocation): Promise<WholeState> {
  return { folder: await stateFolder(invocation), database: stateDatabase(invocation) };
}

function placeOf({ folder, database }: WholeState): string {
  return database === null ? folder : publicAddress(database);
}

async function checkedLedgers(state: WholeState, terminal: Terminal): Promise<StateReport["ledgers"]> {
  const { clock, random, stopping } = terminal;
  const checked = await checkState(state, { keyText: readStateKey(terminal), clock, random, stopping });
  if (checked.length > 0) return checked.map(ledgerReport);
  throw new HoldfastError("invalid", `there is no ledger in ${placeOf(state)}`, {
    hint: "name the state with --state; a state that is new has none before the first plan or apply",
  });
}

function ledgerReport(checked: CheckedLedger): StateReport["ledgers"][number] {
  const { target } = checked;
  if ("content" in checked) return { target, ...checked.content, problem: null };
  const failure = toHoldfastError(checked.error);
  if (failure === null) throw checked.error;
  const { code, message, hint } = failure;
  return { target, schema: null, servers: [], problem: { code, message, hint } };
}

async function transfer(invocation: StateInvocation, action: "export" | "import", named: string): Promise<number> {
  const { terminal } = invocation;
  const { clock, random, stopping } = terminal;
  const exportKey = await readExportKey(invocation);
  const options = { keyText: readStateKey(terminal), exportKey, clock, random, stopping };
  const state = await stateOf(invocation);
  const other = resolve(terminal.cwd, named);
  const { ledgers, tokens } =
    action === "export" ? await exportState(state, other, options) : await importState(other, state, options);
  const place = placeOf(state);
  const [from = "", to = ""] = (action === "export" ? [place, other] : [other, place]).map(printable);
  const areApart = action === "import" && state.database !== null && tokens > 0;
  const tokenPlace = areApart ? ` (tokens: ${printable(state.folder)})` : "";
  const moved = `${count(ledgers, "ledger")} and ${count(tokens, "token")}`;
  const text = `${from}: ${moved} are in ${to}${tokenPlace} now\n`;
  await writeResult(terminal, wrappedLines(text, columnsOn(terminal.stdout)));
  say(terminal, ADVICE[action]);
  return 0;
}

// From `--export-key-file`, or from `HOLDFAST_EXPORT_KEY`.
async function readExportKey({ flags, terminal }: StateInvocation): Promise<SealKey> {
  const { env, cwd } = terminal;
  try {
    if (flags.exportKeyFile !== undefined) return (await readOperatorKeyFile(resolve(cwd, flags.exportKeyFile))).newest;
    if (env.HOLDFAST_EXPORT_KEY) return parseKey(env.HOLDFAST_EXPORT_KEY);
  } catch (cause) {
    const why = cause instanceof SealKeyError ? cause.message : `${flags.exportKeyFile} cannot be read`;
    throw new HoldfastError("invalid", `the export key cannot be used: ${why}`, { hint: HOW_TO_MAKE_KEY, cause });
  }
  throw new HoldfastError("invalid", "an exported state is sealed with a key, and none is given", {
    hint: HOW_TO_MAKE_KEY,
  });
}

const HOW_TO_MAKE_KEY =
  "make one with `(umask 077; openssl rand -base64 32 > export.key)`, and give it with --export-key-file";

const ADVICE = {
  export:
    "keep the export key in another place; before you use the state elsewhere, stop every process that writes it here",
  import: "holdfast plan shows now what differs; no write is sent before apply or watch",
};
