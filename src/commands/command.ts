import type { FlagName, Flags, GeneralFlag } from "./flags/flags.ts";
import type { SpelledFlags } from "./flags/spelled-flags.ts";
import type { Terminal } from "./terminal.ts";

/** One run of a command: its arguments, its flags with values from the environment filled in, and the terminal. */
export type Invocation<Names extends FlagName = FlagName> = {
  readonly args: readonly string[];
  readonly flags: Flags<Names | GeneralFlag>;
  readonly terminal: Terminal;
  /** The flags of the command line as words, for a command that suggests another one; absent where nobody typed it. */
  readonly spelled?: SpelledFlags;
};

/** The declaration of a command; loaded at every start, while the command's code is loaded when it runs. */
export type CommandDeclaration<Names extends FlagName = FlagName> = {
  readonly name: string;
  readonly arguments: string;
  /** Describes the arguments. Without it they are paths that select within the source. */
  readonly argumentsAre?: string;
  /** Whether the command itself reports a missing argument, together with the flags that are missing. @default false */
  readonly reportsMissing?: boolean;
  readonly summary: string;
  readonly flags: readonly Names[];
  readonly examples: readonly string[];
};

/** Declares a command. */
export function declareCommand<const Names extends FlagName>(
  declaration: CommandDeclaration<Names>,
): CommandDeclaration<Names> {
  return declaration;
}

/** A run of a declared command, with the flags that it declares. */
export type InvocationOf<Declared> = Declared extends CommandDeclaration<infer Names> ? Invocation<Names> : never;

/** Runs a command and returns its exit code. */
type Run<Names extends FlagName> = (invocation: Invocation<Names>) => Promise<number>;

/** A command of the program; its code is loaded when it runs. */
export type CommandEntry = CommandDeclaration & { readonly load: () => Promise<{ readonly run: Run<FlagName> }> };

/** Joins a declared command with its code. */
export function toEntry<Names extends FlagName>(
  declaration: CommandDeclaration<Names>,
  load: () => Promise<{ readonly run: Run<Names> }>,
): CommandEntry {
  return { ...declaration, load };
}
