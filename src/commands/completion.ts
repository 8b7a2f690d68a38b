import type { Command, Option } from "commander";
import { HoldfastError } from "../core/errors.ts";
import { manifestTypes } from "../schema/schemas.ts";
import type { InvocationOf } from "./command.ts";
import type { completion } from "./declarations/completion.ts";
import { writeResult } from "./terminal.ts";

type Shell = {
  readonly script: string;
  /** A suggestion as the script reads it, one a line. */
  readonly line: (suggestion: Suggestion) => string;
};

/** A word that may come next. */
type Suggestion = { readonly word: string; readonly description: string };

// Where nothing is suggested, each of them completes files. None gives what was typed to `eval`.
const shells: { readonly [name: string]: Shell } = {
  bash: {
    // Bash takes the value alone for the word that is completed.
    line: ({ word }) => word.replace(/^--[\w-]+=/, ""),
    script: `_holdfast() {
  local IFS=$'\\n'
  COMPREPLY=($(holdfast completion bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _holdfast holdfast
`,
  },
  zsh: {
    line: ({ word, description }) => `${word.replaceAll(":", "\\:")}:${description}`,
    script: `#compdef holdfast
_holdfast() {
  local -a found
  found=(\${(f)"$(holdfast completion zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( $#found )); then _describe holdfast found; else _files; fi
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _holdfast "$@"; else compdef _holdfast holdfast; fi
`,
  },
  fish: {
    line: ({ word, description }) => `${word}\t${description}`,
    script: `function __holdfast_complete
  set -l words (commandline -opc)
  set -l typed (commandline -ct)
  set -l found (holdfast completion fish -- $words[2..] "$typed" 2>/dev/null)
  if set -q found[1]
    string join \\n -- $found
  else
    __fish_complete_path "$typed"
  end
end
complete -c holdfast -f -a '(__holdfast_complete)'
`,
  },
};

/** Prints the script of a shell; given the words that were typed, what may be in the place of the last one. */
export async function completeWords(
  { args, terminal }: InvocationOf<typeof completion>,
  program: Command,
): Promise<number> {
  const [name = "", ...words] = args;
  const shell = Object.hasOwn(shells, name) ? shells[name] : undefined;
  if (shell === undefined) {
    const hint = `Name one of ${Object.keys(shells).join(", ")}.`;
    throw new HoldfastError("invalid", `there is no completion for ${JSON.stringify(name)}`, { hint });
  }
  await writeResult(
    terminal,
    words.length === 0 ? shell.script : linesOf(suggestionsFor(program, joined(words)), shell),
  );
  return 0;
}

// Bash makes three words of `--flag=value`.
function joined(words: readonly string[]): readonly string[] {
  return words
    .join("\0")
    .replaceAll(/\0=(?:\0|$)/g, "=")
    .split("\0");
}

function linesOf(suggestions: readonly Suggestion[], { line }: Shell): string {
  return suggestions.map((suggestion) => `${line(suggestion)}\n`).join("");
}

function suggestionsFor(program: Command, words: readonly string[]): readonly Suggestion[] {
  const typed = words.at(-1) ?? "";
  const before = words.slice(0, -1);
  const command = program.commands.find((one) => one.name() === before[0]);
  const all =
    before.length === 0 ? [...commandsOf(program), ...flagsOf(program, typed)] : wordsOf(command, before, typed);
  return all.filter(({ word }) => word.startsWith(typed));
}

function commandsOf(program: Command): readonly Suggestion[] {
  return program.commands.map((command) => ({ word: command.name(), description: command.summary() }));
}

function wordsOf(command: Command | undefined, before: readonly string[], typed: string): readonly Suggestion[] {
  if (command === undefined || before.includes("--")) return [];
  const [, joined] = /^(--[\w-]+)=/.exec(typed) ?? [];
  if (joined !== undefined) return valuesOf(command, joined, `${joined}=`);
  const flag = before.findLast((word) => word.startsWith("-")) ?? "";
  const isValue = before.at(-1) === flag || optionOf(command, flag)?.variadic === true;
  return [...(isValue ? valuesOf(command, flag, "") : argumentsOf(command)), ...flagsOf(command, typed)];
}

function argumentsOf(command: Command): readonly Suggestion[] {
  const [name = ""] = command.registeredArguments.map((argument) => argument.name());
  const words = name === "shell" ? Object.keys(shells) : /^kind\b/.test(name) ? manifestTypes : [];
  return words.map((word) => ({ word, description: "" }));
}

function valuesOf(command: Command, flag: string, prefix: string): readonly Suggestion[] {
  const option = optionOf(command, flag);
  const values = option?.long === "--kind" ? manifestTypes : (option?.argChoices ?? []);
  return values.map((value) => ({ word: `${prefix}${value}`, description: "" }));
}

function optionOf(command: Command, flag: string): Option | undefined {
  return command.options.find(({ long, short }) => flag !== "" && (long === flag || short === flag));
}

// Of files and flags a shell shows files first, so flags are suggested to those who ask for them.
function flagsOf(command: Command, typed: string): readonly Suggestion[] {
  if (!typed.startsWith("-")) return [];
  const options = command.createHelp().visibleOptions(command);
  return options.map(({ long, description }) => ({ word: long ?? "", description }));
}
