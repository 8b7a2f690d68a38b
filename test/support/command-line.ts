import type { Command } from "commander";
import { systemClock, systemRandom } from "../../src/clock/system.ts";
import { createProgram } from "../../src/commands/program.ts";
import type { ProcessTerminal } from "../../src/commands/terminal.ts";

const terminal: ProcessTerminal = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: {},
  cwd: process.cwd(),
  clock: systemClock,
  random: systemRandom,
  program: import.meta.dirname,
  version: "0.0.0",
  commit: () => null,
  stopping: new AbortController().signal,
  signal: new AbortController().signal,
  stop: () => undefined,
};

/** The command line with all commands and flags; it runs none. */
export const program: Command = createProgram(terminal, { done: () => undefined });

/** What of a command line is no command, or no flag of that command. */
export function unknownIn([name = "", ...words]: readonly string[]): readonly string[] {
  const command = program.commands.find((one) => one.name() === name);
  if (command === undefined) return [name];
  const flags = words.filter((word) => word.startsWith("--")).map((word) => word.split("=")[0]);
  return flags.flatMap((flag = "") => (command.options.some(({ long }) => long === flag) ? [] : [flag]));
}
