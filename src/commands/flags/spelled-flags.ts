import type { Command, Option } from "commander";

/** The flags of a command line as words, by the name of their value; those from the environment are left out. */
export type SpelledFlags = ReadonlyMap<string, readonly string[]>;

/** Spells the flags that were given on the command line. */
export function spelledFlags(command: Command): SpelledFlags {
  const given = command.options.filter((option) => command.getOptionValueSource(option.attributeName()) === "cli");
  // A flag and its negation have one value; the one that was given spells it.
  return new Map(given.flatMap((option) => wordsOf(option, command.getOptionValue(option.attributeName()))));
}

function wordsOf(option: Option, value: unknown): readonly (readonly [string, readonly string[]])[] {
  const [name, flag] = [option.attributeName(), option.long ?? ""];
  if (typeof value === "boolean") return value === !option.negate ? [[name, [flag]]] : [];
  return [[name, [flag, ...[value].flat().map(String)]]];
}
