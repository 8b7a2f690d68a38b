import { PassThrough } from "node:stream";
import { systemClock, systemRandom } from "../../../src/clock/system.ts";
import { createWarnings } from "../../../src/commands/output/warnings.ts";
import type { Terminal } from "../../../src/commands/terminal.ts";

/** A terminal of a test, and what was written to its streams. */
export type TestTerminal = {
  readonly terminal: Terminal;
  readonly stdout: () => string;
  readonly stderr: () => string;
};

/** Where a command runs, and what the person at the terminal types; nobody sits there without answers. */
export type Person = {
  readonly cwd: string;
  readonly env?: Terminal["env"];
  readonly answers?: readonly string[];
};

/** A terminal at which a person answers each question in turn, and leaves when there are no more answers. */
export function terminalOf({ cwd, env = {}, answers }: Person): TestTerminal {
  const isTTY = answers !== undefined;
  const waiting = [...(answers ?? [])];
  const stdin = Object.assign(new PassThrough(), { isTTY });
  const [stdout, stderr] = [Object.assign(new PassThrough(), { isTTY }), Object.assign(new PassThrough(), { isTTY })];
  const written = { stdout: "", stderr: "" };
  stdout.setEncoding("utf8").on("data", (text: string) => {
    written.stdout += text;
  });
  stderr.setEncoding("utf8").on("data", (text: string) => {
    written.stderr += text;
    if (!text.includes("[y/N]")) return;
    const answer = waiting.shift();
    if (answer === undefined) stdin.end();
    else stdin.write(`${answer}\n`);
  });
  const stopping = new AbortController();
  const terminal: Terminal = {
    stdin,
    stdout,
    stderr,
    warnings: createWarnings(stderr),
    env,
    cwd,
    version: "0.0.0",
    commit: () => null,
    program: import.meta.dirname,
    clock: systemClock,
    random: systemRandom,
    stopping: stopping.signal,
    signal: stopping.signal,
    stop: (reason) => stopping.abort(reason),
  };
  return { terminal, stdout: () => written.stdout, stderr: () => written.stderr };
}
