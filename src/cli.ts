import { readlinkSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { isSea } from "node:sea";
import { systemClock, systemRandom } from "./clock/system.ts";
import { checkoutCommit } from "./commands/checkout-commit.ts";
import { logChoiceOf } from "./commands/flags/raw-command-line.ts";
import { runCommandLine } from "./commands/run-command-line.ts";
import { type ProcessTerminal, say, stoppedBy } from "./commands/terminal.ts";
import { exitCodes, HoldfastError, worstExitCode } from "./core/errors.ts";
import { once } from "./model/once.ts";

/** After the first signal, what is in flight may take this long. */
const GRACE_MS = 25_000;
/** What is then cut off has this long to go. */
const CUT_MS = 5000;

const stopping = new AbortController();
const ending = new AbortController();

declare const BUILD_COMMIT: string | null | undefined;

function stop(error: HoldfastError): void {
  // The second signal does not wait for anything.
  if (stopping.signal.aborted) ending.abort(error);
  stopping.abort(error);
  systemClock.after(GRACE_MS, () => ending.abort(error), { ref: false });
}

// Whatever may hang then, the process does not.
ending.signal.addEventListener("abort", () => {
  systemClock.after(CUT_MS, () => process.exit(exitCodes[stoppedBy(terminal)?.code ?? "error"]), { ref: false });
});

process.on("SIGINT", () => stop(new HoldfastError("interrupted", "interrupted")));
process.on("SIGTERM", () => stop(new HoldfastError("terminated", "terminated")));
let isOutputLost = false;
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // A reader that closes the pipe early (`| head`) is not a failure. A full disk is one, but no reason to stop an apply.
  if (error.code === "EPIPE" || isOutputLost) return;
  isOutputLost = true;
  say(terminal, `the output cannot be written (${error.code ?? error.message}); the command goes on`);
});
// There is nowhere left to report it.
process.stderr.on("error", () => undefined);

// A pipe or a file has no width of its own; git and ls read the same variable.
const columns = Number(process.env.COLUMNS);
if (Number.isInteger(columns) && columns > 0) {
  for (const stream of [process.stdout, process.stderr]) stream.columns ??= columns;
}

// Loaded only where it is asked for, since a log takes time to load.
const log = logChoiceOf(process.argv.slice(2), process.env, process.stdout);
const stderr =
  log === null
    ? process.stderr
    : (await import("./commands/output/terminal-log.ts")).loggingStderr(process[log.stream], log);

const terminal: ProcessTerminal = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr,
  logsToStdout: log?.stream === "stdout",
  env: process.env,
  cwd: process.cwd(),
  outputFiles: [1, 2].flatMap(fileOf),
  program: isSea() ? process.execPath : import.meta.dirname,
  version: version(),
  // Sources are not built, so their checkout is asked, and only by those who show it.
  commit: once(() =>
    typeof BUILD_COMMIT === "undefined" ? checkoutCommit(import.meta.dirname) : (BUILD_COMMIT ?? null),
  ),
  clock: systemClock,
  random: systemRandom,
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

const exitCode = await runCommandLine(process.argv.slice(2), terminal);
process.exitCode = isOutputLost ? worstExitCode([exitCode, exitCodes.error]) : exitCode;
// Nothing may keep a finished command alive, and all of its output must be out.
process.stdout.write("", () => process.exit());

function version(): string {
  const { version }: { readonly version: string } = createRequire(import.meta.url)("../package.json");
  return version;
}
