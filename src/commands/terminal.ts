import { createInterface } from "node:readline/promises";
import type { Readable, Writable } from "node:stream";
import type { Clock } from "../clock/clock.ts";
import type { Random } from "../clock/random.ts";
import type { Diagnostic } from "../core/diagnostic.ts";
import { HoldfastError } from "../core/errors.ts";
import { printable } from "../render/escape.ts";
import type { Output } from "../render/output-format.ts";
import { sentenceText } from "../render/wrap.ts";

/** A process: its streams, environment, clock, randomness and signals, passed as values so that no code uses globals. */
export type ProcessTerminal = {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  /** Results go here, and nothing else. */
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };
  /** Logs, progress and diagnostics go here. */
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };
  /** Whether stderr writes to stdout, as the log of a `watch` without a terminal does. Then nothing else is written there. */
  readonly logsToStdout?: boolean;
  readonly env: { readonly [name: string]: string | undefined };
  readonly cwd: string;
  /** The files that the shell redirected the output to. */
  readonly outputFiles?: readonly string[];
  /** Collects results instead of writing them to a file, when the results of several targets are joined. */
  readonly collect?: (output: Output, text: string) => void;
  /** The folder of the program; the file where it is a single executable. */
  readonly program: string;
  /** The version of the program. */
  readonly version: string;
  /** The commit that it was built from, or that the checkout is at; null if it is not known. */
  readonly commit: () => string | null;
  readonly clock: Clock;
  readonly random: Random;
  /** Aborted by a stop request: no new request is started, requests in flight are finished. */
  readonly stopping: AbortSignal;
  /** Aborted by a second stop request or after the grace period: requests in flight are cancelled too. */
  readonly signal: AbortSignal;
  /** Calls the listener on each SIGHUP, which then no longer ends the process; absent if there are no signals. */
  readonly onHangup?: (listener: () => void) => void;
  /** Stops the command, as a signal does. */
  readonly stop: (reason: HoldfastError) => void;
};

/** The warnings about a run: each is printed on stderr and kept for the result. */
export type Warnings = {
  /** Adds a warning; with `--strict` the command then fails when it ends. */
  readonly add: (warning: Diagnostic) => void;
  /** Adds a warning of a command that has sent nothing yet; with `--strict` it ends here. */
  readonly addEarly: (warning: Diagnostic) => void;
  readonly all: () => readonly Diagnostic[];
  /** Calls a listener with each later warning. */
  readonly follow: (listener: (warning: Diagnostic) => void) => void;
  /** The same warnings, printed on another stream. */
  readonly printedOn: (stderr: Terminal["stderr"]) => Warnings;
};

/** What is called as a command begins, with its warnings, and as it ends without an error, with its exit code. */
export type RunEvents = {
  readonly begun?: (warnings: Warnings) => void;
  readonly done: (exitCode: number) => void;
};

/** The process of a command, and the warnings about its run. */
export type Terminal = ProcessTerminal & { readonly warnings: Warnings };

/** Whether a person can be asked for confirmation: stdin and stderr are terminals, and this is no CI job. */
export function isInteractive({ stdin, stderr, env }: Terminal): boolean {
  return stdin.isTTY === true && stderr.isTTY === true && !env.CI;
}

/** Stops the command when its time limit is reached. */
export function endAfter(seconds: number | null | undefined, { clock, stop }: ProcessTerminal): void {
  if (seconds === null || seconds === undefined) return;
  const end = (): void => stop(new HoldfastError("timeout", `the time limit of ${seconds} s is over`));
  clock.after(seconds * 1000, end, { ref: false });
}

/** The signal or time limit that stopped the command, and so caused its failure; null if none did. */
export function stoppedBy({ stopping, signal }: ProcessTerminal): HoldfastError | null {
  const { reason } = stopping.aborted ? stopping : signal;
  return reason instanceof HoldfastError ? reason : null;
}

const COLUMNS = 80;

/** The width of a stream in columns. */
export function columnsOn({ columns = COLUMNS }: { readonly columns?: number }): number {
  return columns;
}

/** Prints a sentence on stderr, wrapped to its width. */
export function say({ stderr }: ProcessTerminal, text: string): void {
  stderr.write(sentence(text, stderr));
}

/** A sentence as text for people, wrapped to the width of a stream. */
export function sentence(text: string, stderr: Terminal["stderr"]): string {
  return sentenceText(printable(text), columnsOn(stderr));
}

/** The same terminal with another stderr, for warnings too. */
export function printedOn(stderr: Terminal["stderr"], terminal: Terminal): Terminal {
  return { ...terminal, stderr, warnings: terminal.warnings.printedOn(stderr) };
}

/** The last line of a command that ran until it was asked to end. */
export const STOPPED = "stopped: the process was asked to end";

/** Refuses to begin what needs a confirmation that no flag gives, where nobody can be asked for it. */
export function requireConfirmable(
  what: string,
  { isConfirmed, hint = "run it with --yes" }: { readonly isConfirmed: boolean | undefined; readonly hint?: string },
  terminal: Terminal,
): void {
  if (isConfirmed || isInteractive(terminal)) return;
  throw new HoldfastError("invalid", `${what} needs confirmation, and there is no terminal`, { hint });
}

/** Asks a yes-or-no question on the terminal; anything but `y` or `yes` is no. */
export async function confirm(question: string, { stdin, stderr, stopping }: Terminal): Promise<boolean> {
  const prompt = createInterface({ input: stdin, output: stderr });
  try {
    // Without this, the question would stay open forever when the input ends.
    const ended = new Promise<string>((done) => prompt.once("close", () => done("")));
    const answer = await Promise.race([prompt.question(`${question} [y/N] `, { signal: stopping }), ended]);
    return /^y(?:es)?$/i.test(answer.trim());
  } finally {
    prompt.close();
  }
}

const streamsWithResult = new WeakSet<Writable>();

/** Whether a result was written to stdout. */
export function hasResult({ stdout }: ProcessTerminal): boolean {
  return streamsWithResult.has(stdout);
}

/** Marks stdout as carrying a result, so that no failure report is written after it. */
export function markAnswered({ stdout }: Terminal): void {
  streamsWithResult.add(stdout);
}

/** Writes a result to stdout and waits until it is flushed, so that a pipe receives all of it. */
export async function writeResult({ stdout }: ProcessTerminal, text: string): Promise<void> {
  if (text === "") return;
  streamsWithResult.add(stdout);
  // A failure is an event of the stream, for which the process decides whether it is an error.
  await new Promise<void>((resolve) => {
    stdout.write(text, () => resolve());
  });
}
