import { type Logger, pino } from "pino";
import { formatLine } from "./line.ts";

/** Where the program says what it does; values of type Secret print as `[secret]`, bodies are never given to it. */
export type Log = Logger;

/** How much is said. */
export type LogLevel = "fatal" | "error" | "warn" | "info" | "debug" | "trace" | "silent";

/** How it is written: one JSON object a line for machines, or a line for people. */
export type LogFormat = "json" | "pretty";

/** Where lines go. */
export type LogStream = { write(text: string): unknown };

/** Makes the log; it goes to stderr, since stdout belongs to results. */
export function createLog({
  level = "info",
  format = "json",
  stream = process.stderr,
}: {
  readonly level?: LogLevel;
  readonly format?: LogFormat;
  readonly stream?: LogStream;
} = {}): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    format === "json" ? stream : { write: (text: string) => stream.write(formatLine(text)) },
  );
}
