// src/commands: one file for each command: flags, call, output. See docs/architecture.md#source-folders.

import type { Command, Option } from "commander";
import { HoldfastError } from "../core/errors.ts";
import type { FlagName, Flags, GeneralFlag } from "./flags/flags.ts";
import type { SharedReads } from "./targets/shared-reads.ts";
import type { Terminal } from "./terminal.ts";

/** One run of a command: its arguments, its flags with values from the environment filled in, and the terminal. */
export type Invocation<Names extends FlagName = FlagName> = {
  readonly args: readonly string[];
  readonly flags: Flags<Names | GeneralFlag>;
  readonly terminal: Terminal;
  /** What is shared by all who find targets in a daemon; absent in other commands. */
  readonly shared?: SharedReads;
  /** The flags of the command line as words, for a command that suggests another one; absent where nobody typed it. */
  readonly spelled?: ReadonlyMap<string, readonly string[]>;
};

/** The declaration of a command; loaded at every start, while the command's code is loaded when it runs. */
export type CommandDeclaration<Names extends FlagName = FlagName> = {
  readonly name: string;
  readonly arguments: string;
  /** Describes the argument, or each of several. Without it they are paths that select within the source. */
  readonly argumentsAre?: string | readonly string[];
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

/** A command of the program; its code is loaded when it runs. */
export type CommandEntry = CommandDeclaration & {
  readonly load: () => Promise<{ readonly run: (invocation: Invocation<FlagName>) => Promise<number> }>;
};

/** Joins a declared command with its code. */
export function toEntry<Names extends FlagName>(
  declaration: CommandDeclaration<Names>,
  load: () => Promise<{ readonly run: (invocation: Invocation<Names>) => Promise<number> }>,
): CommandEntry {
  return { ...declaration, load };
}

/** The error for flags and arguments without which a command cannot begin: it names all of those that are missing. */
export function missingFlags(needed: { readonly [flag: string]: unknown }, hint: string): HoldfastError {
  const missing = Object.keys(needed).filter((flag) => needed[flag] === undefined);
  const are = missing.length === 1 ? "is" : "are";
  const [last = "", ...others] = missing.toReversed();
  const all = others.length === 0 ? last : `${others.toReversed().join(", ")} and ${last}`;
  return new HoldfastError("invalid", `${all} ${are} missing`, { hint });
}

/** Refuses flags, by their attributes, that were typed and have no effect here. Variables are for all commands. */
export function refuseUnfit({ spelled }: Pick<Invocation, "spelled">, unfit: readonly string[], hint: string): void {
  const [flag] = unfit.flatMap((name) => spelled?.get(name)?.slice(0, 1) ?? []);
  if (flag !== undefined) throw new HoldfastError("invalid", `${flag} has no effect here`, { hint });
}

/** Spells the flags that were given on the command line. */
export function spelledFlags(command: Command): ReadonlyMap<string, readonly string[]> {
  const given = command.options.filter((option) => command.getOptionValueSource(option.attributeName()) === "cli");
  // A flag and its negation have one value; the one that was given spells it.
  return new Map(given.flatMap((option) => wordsOf(option, command.getOptionValue(option.attributeName()))));
}

function wordsOf(option: Option, value: unknown): readonly (readonly [string, readonly string[]])[] {
  const [name, flag] = [option.attributeName(), option.long ?? ""];
  if (typeof value === "boolean") return value === !option.negate ? [[name, [flag]]] : [];
  const values = [value].flat().map(String);
  return [[name, option.variadic ? [flag, ...values] : values.flatMap((one) => [flag, one])]];
}
