import type { FlagName, Flags } from "./flags.ts";
import type { Terminal } from "./terminal.ts";

/** One run of a command: what the user typed, the environment filled in. */
export type Invocation = {
  readonly args: readonly string[];
  readonly flags: Flags;
  readonly terminal: Terminal;
};

/** A command of the program; its code is loaded when it runs. */
export type CommandEntry = {
  readonly name: string;
  readonly arguments: string;
  /** What the arguments are; else they select within the source. */
  readonly argumentsAre?: string;
  readonly summary: string;
  readonly flags: readonly FlagName[];
  readonly examples: readonly string[];
  /** Answers the exit code. */
  readonly load: () => Promise<{ readonly run: (invocation: Invocation) => Promise<number> }>;
};
