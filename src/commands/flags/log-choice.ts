import type { LogFormat, LogLevel } from "../../log/log.ts";
import { type RawEnvironment, rawOutputs, rawValues } from "./raw-values.ts";

/** Where everything that a command says beside its result is logged, and how. */
export type LogChoice = {
  readonly stream: "stdout" | "stderr";
  readonly format: LogFormat;
  readonly level: LogLevel;
};

const LEVELS: readonly LogLevel[] = ["error", "warn", "info", "debug", "trace"];

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
