import { readFileSync, readlinkSync, statSync } from "node:fs";
import { CommanderError } from "commander";
import { toHoldfastError } from "./commands/errors/to-holdfast-error.ts";
import { refuseTokenFlag } from "./commands/flags/refuse-token-flag.ts";
import { wantsJson, wantsJsonLog } from "./commands/flags/wants-json.ts";
import { createProgram } from "./commands/program.ts";
import { columnsOn, hasResult, type Terminal, writeResult } from "./commands/terminal.ts";
import { exitCodes, HoldfastError } from "./core/errors.ts";
import { printableLines } from "./render/escape.ts";
import { type Ending, failureReport, failureText } from "./render/failure.ts";

/** After the first signal, what is in flight may take this long. */
const GRACE_MS = 25_000;
/** What is then cut off has this long to go. */
const CUT_MS = 5000;

const stopping = new AbortController();
const ending = new AbortController();

function stop(error: HoldfastError): void {
  // The second signal does not wait for anything.
  if (stopping.signal.aborted) ending.abort(error);
  stopping.abort(error);
  setTimeout(() => ending.abort(error), GRACE_MS).unref();
}

// Whatever may hang then, the process does not.
ending.signal.addEventListener("abort", () => {
  setTimeout(() => process.exit(exitCodes[stoppedBy()?.code ?? "error"]), CUT_MS).unref();
});

process.on("SIGINT", () => stop(new HoldfastError("interrupted", "interrupted")));
process.on("SIGTERM", () => stop(new HoldfastError("terminated", "terminated")));
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // The reader of a pipe has seen enough.
  if (error.code !== "EPIPE") throw error;
});

// A pipe or a file has no width of its own; git and ls read the same variable.
const columns = Number(process.env.COLUMNS);
if (Number.isInteger(columns) && columns > 0) {
  for (const stream of [process.stdout, process.stderr]) stream.columns ??= columns;
}

// Loaded only where it is asked for, since a log takes time to load.
const stderr = wantsJsonLog(process.argv.slice(2), process.env)
  ? (await import("./commands/output/json-log-stream.ts")).jsonLogStream(process.stderr)
  : process.stderr;

const terminal: Terminal = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr,
  env: process.env,
  cwd: process.cwd(),
  outputFiles: [1, 2].flatMap(fileOf),
  program: import.meta.dirname,
  now: Date.now,
  stopping: stopping.signal,
  signal: ending.signal,
  onHangup: (listener) => void process.on("SIGHUP", listener),
  stop,
};

// Known where the kernel tells; elsewhere such a file is one of the source, which holds no manifest.
function fileOf(descriptor: number): readonly string[] {
  try {
    const path = readlinkSync(`/proc/self/fd/${descriptor}`);
    return statSync(path).isFile() ? [path] : [];
  } catch {
    return [];
  }
}

process.exitCode = await main(process.argv);
// Nothing may keep a finished command alive, and all of its output must be out.
process.stdout.write("", () => process.exit());

async function main(argv: readonly string[]): Promise<number> {
  let exitCode = 0;
  try {
    refuseTokenFlag(argv.slice(2));
    await createProgram(terminal, version(), (code) => {
      exitCode = code;
    }).parseAsync(argv);
    return exitCode;
  } catch (error) {
    // Somebody asked for help, and has it.
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const ending = endingOf(error);
    if (wantsJson(argv.slice(2), process.env) && !hasResult(terminal)) {
      await writeResult(terminal, failureReport(ending));
    }
    return exitCodes[ending.code];
  }
}

/** Says on stderr why a command ended, and answers it. */
function endingOf(error: unknown): Ending {
  // Commander has said what was wrong with the command line.
  if (error instanceof CommanderError) return usageError(error);
  const reason = error instanceof HoldfastError ? error : (stoppedBy() ?? toHoldfastError(error));
  const ending = reason ?? unexpected(error);
  stderr.write(failureText(ending, columnsOn(stderr)));
  if (reason === null && process.env.HOLDFAST_LOG_LEVEL === "debug" && error instanceof Error) {
    stderr.write(`${printableLines(error.stack ?? "")}\n`);
  }
  return ending;
}

function usageError({ message }: CommanderError): Ending {
  const [summary = "", ...rest] = message.replace(/^error: /, "").split("\n");
  return { code: "invalid", message: summary, hint: rest.join(" ") || null, diagnostics: [] };
}

function unexpected(error: unknown): Ending {
  const message = error instanceof Error ? error.message : String(error);
  return { code: "error", message, hint: "this is a fault of holdfast: please report it", diagnostics: [] };
}

// Whatever was cut short by a signal or the time limit failed because of it.
function stoppedBy(): HoldfastError | null {
  const { reason } = stopping.signal.aborted ? stopping.signal : ending.signal;
  return reason instanceof HoldfastError ? reason : null;
}

function version(): string {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
