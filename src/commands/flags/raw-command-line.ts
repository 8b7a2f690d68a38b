import { HoldfastError } from "../../core/errors.ts";
import type { LogFormat, LogLevel } from "../../log/log.ts";

/** The environment of a process. */
type RawEnvironment = { readonly [name: string]: string | undefined };

/** Where everything that a command says beside its result is logged, and how. */
export type LogChoice = {
  readonly stream: "stdout" | "stderr";
  readonly format: LogFormat;
  readonly level: LogLevel;
};

const LEVELS: readonly LogLevel[] = ["error", "warn", "info", "debug", "trace"];

/** The values of a flag in a command line that may be invalid, else the one of its environment variable, in order. */
function rawValues(
  args: readonly string[],
  env: RawEnvironment,
  { flags, variable }: { readonly flags: readonly string[]; readonly variable: string },
): readonly string[] {
  const end = args.indexOf("--");
  const words = end === -1 ? args : args.slice(0, end);
  const values = words.flatMap((word, index) => flags.flatMap((flag) => valueAt(flag, word, words[index + 1]) ?? []));
  const byDefault = env[variable];
  return values.length > 0 || !byDefault ? values : [byDefault];
}

// The value is the next word, or joined to the flag: `--output=json`, `-ojson`.
function valueAt(flag: string, word: string, next = ""): string | null {
  if (word === flag) return next;
  const joined = flag.startsWith("--") ? `${flag}=` : flag;
  return word.startsWith(joined) && word.length > joined.length ? word.slice(joined.length) : null;
}

/** The values of `--output`. */
function rawOutputs(args: readonly string[], env: RawEnvironment): readonly string[] {
  return rawValues(args, env, { flags: ["-o", "--output"], variable: "HOLDFAST_OUTPUT" });
}

/** Whether a command line requests JSON on stdout. It may be invalid otherwise: the error is then written as JSON too. */
export function wantsJson(args: readonly string[], env: RawEnvironment): boolean {
  const onStdout = rawOutputs(args, env)
    .flatMap((text) => text.split(","))
    .filter((one) => !one.includes("=") && one !== "github");
  return onStdout.at(-1) === "json";
}

/**
 * The log that a command line asks for; null if the command writes text to stderr. `watch` without a terminal and without
 * `-o` has no result but its log, which then goes to stdout.
 */
export function logChoiceOf(
  args: readonly string[],
  env: RawEnvironment,
  { isTTY = false }: { readonly isTTY?: boolean },
): LogChoice | null {
  const format = rawValues(args, env, { flags: ["--log-format"], variable: "HOLDFAST_LOG_FORMAT" }).at(-1);
  const asked = rawValues(args, env, { flags: ["--log-level"], variable: "HOLDFAST_LOG_LEVEL" }).at(-1);
  const level = LEVELS.find((one) => one === asked) ?? "info";
  if (args[0] === "watch" && !isTTY && rawOutputs(args, env).length === 0) {
    return { stream: "stdout", format: format === "pretty" ? "pretty" : "json", level };
  }
  return format === "json" ? { stream: "stderr", format, level } : null;
}

/** Refuses a token on the command line, where every user of the machine can read it; the error does not quote it. */
export function refuseTokenFlag(args: readonly string[]): void {
  const end = args.indexOf("--");
  const flags = end === -1 ? args : args.slice(0, end);
  if (!flags.some((arg) => arg === "--token" || arg.startsWith("--token="))) return;
  throw new HoldfastError("invalid", "a token is never given on the command line, where others can read it", {
    hint: "set HOLDFAST_TOKEN, or name a file that holds it: --token-file FILE",
  });
}
