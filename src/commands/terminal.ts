import { createInterface } from "node:readline/promises";
import type { Readable, Writable } from "node:stream";
import { HoldfastError } from "../core/errors.ts";
import { printable } from "../render/escape.ts";
import type { Output } from "../render/output-format.ts";
import { sentenceText } from "../render/wrap.ts";

/** What a command sees of the process around it, passed as values so that nothing reaches for globals. */
export type Terminal = {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  /** Results go here, and nothing else. */
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };
  /** Logs, progress and diagnostics go here. */
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };
  readonly env: { readonly [name: string]: string | undefined };
  readonly cwd: string;
  /** The files that its output goes to, where a shell has sent it there. */
  readonly outputFiles?: readonly string[];
  /** Takes what else would go to a file, where the results of several targets are joined. */
  readonly collect?: (output: Output, text: string) => void;
  /** The folder that the program lies in. */
  readonly program: string;
  readonly now: () => number;
  /** A stop request: nothing new is started, requests in flight are finished. */
  readonly stopping: AbortSignal;
  /** Ends what is in flight too: the second signal, or the grace is over. */
  readonly signal: AbortSignal;
  /** Calls the listener on each SIGHUP, which then ends nothing; absent where there are no signals. */
  readonly onHangup?: (listener: () => void) => void;
  /** Asks the command to end, as a signal does. */
  readonly stop: (reason: HoldfastError) => void;
};

/** Whether a person sits in front of it, who can be asked. */
export function isInteractive({ stdin, stderr, env }: Terminal): boolean {
  return stdin.isTTY === true && stderr.isTTY === true && !env.CI;
}

/** Ends the command when its time is over. */
export function endAfter(seconds: number | null | undefined, { stop }: Terminal): void {
  if (seconds === null || seconds === undefined) return;
  setTimeout(
    () => stop(new HoldfastError("timeout", `the time limit of ${seconds} s is over`)),
    seconds * 1000,
  ).unref();
}

const COLUMNS = 80;

/** Columns that a line on a stream may take. */
export function columnsOn({ columns = COLUMNS }: { readonly columns?: number }): number {
  return columns;
}

/** Prints a sentence on stderr, in as many lines as it takes. */
export function say({ stderr }: Pick<Terminal, "stderr">, text: string): void {
  stderr.write(sentenceText(printable(text), columnsOn(stderr)));
}

/** Prints what is waited for. */
export function sayWait(terminal: Pick<Terminal, "stderr">, text: string): void {
  say(terminal, `waiting: ${text}`);
}

/** Asks a yes-or-no question on the terminal; anything but `y` or `yes` is no. */
export async function confirm(question: string, { stdin, stderr, stopping }: Terminal): Promise<boolean> {
  const prompt = createInterface({ input: stdin, output: stderr });
  try {
    // Without this, an input that ends would leave the question open for ever.
    const ended = new Promise<string>((done) => prompt.once("close", () => done("")));
    const answer = await Promise.race([prompt.question(`${question} [y/N] `, { signal: stopping }), ended]);
    return /^y(?:es)?$/i.test(answer.trim());
  } finally {
    prompt.close();
  }
}

const answered = new WeakSet<Writable>();

/** Whether a result was written to stdout. */
export function hasResult({ stdout }: Pick<Terminal, "stdout">): boolean {
  return answered.has(stdout);
}

/** Says that what goes to stdout is the result, and that nothing else is to follow. */
export function markAnswered({ stdout }: Pick<Terminal, "stdout">): void {
  answered.add(stdout);
}

/** Writes a result to stdout and waits until it is handed over, so that a pipe gets all of it. */
export async function writeResult({ stdout }: Terminal, text: string): Promise<void> {
  if (text === "") return;
  answered.add(stdout);
  await new Promise<void>((resolve, reject) => {
    stdout.write(text, (error) => {
      // A reader that has seen enough (`| head`) is no failure of ours.
      if (error && !("code" in error && error.code === "EPIPE")) reject(error);
      else resolve();
    });
  });
}
