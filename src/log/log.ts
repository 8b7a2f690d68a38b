import { type Logger, pino, stdSerializers } from "pino";
import { escapeJson } from "./escape.ts";
import { formatLine } from "./line.ts";

// What is longer is cut: some of it comes from whoever calls.
const LONGEST_VALUE = 4000;

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
      formatters: { level: (label) => ({ level: label }), log: bounded },
      serializers: {
        err: (error: unknown) => (error instanceof Error ? bounded({ ...stdSerializers.err(error) }) : error),
      },
    },
    { write: (text: string) => stream.write(escapeJson(format === "json" ? text : formatLine(text))) },
  );
}

function bounded(entry: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(entry).map(([name, value]) => [name, cut(value)]));
}

function cut(value: unknown): unknown {
  if (typeof value !== "string" || value.length <= LONGEST_VALUE) return value;
  return `${value.slice(0, LONGEST_VALUE)}… (${value.length} characters)`;
}
