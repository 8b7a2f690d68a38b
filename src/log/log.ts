// src/log: the log. See docs/operations.md#the-log-of-the-control-plane.

import { type Logger, pino, stdSerializers } from "pino";
import { escapeJson } from "../model/unprintable.ts";
import { formatLine } from "./format-line.ts";

// Longer values are truncated, since callers control some of them.
const MAX_VALUE_LENGTH = 4000;

/** The log; values of type Secret print as `[secret]`, and bodies are never logged. */
export type Log = Logger;

/** The lowest level that is logged. */
export type LogLevel = "fatal" | "error" | "warn" | "info" | "debug" | "trace" | "silent";

/** One JSON object per line, or text for people. */
export type LogFormat = "json" | "pretty";

/** Creates the log; it goes to stderr, since stdout is for results. */
export function createLog({
  level = "info",
  format = "json",
  stream = process.stderr,
}: {
  readonly level?: LogLevel;
  readonly format?: LogFormat;
  /** The destination of log lines. */
  readonly stream?: { write(text: string): unknown };
} = {}): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: truncated },
      serializers: {
        err: (error: unknown) => (error instanceof Error ? truncated({ ...stdSerializers.err(error) }) : error),
      },
    },
    { write: (text: string) => stream.write(escapeJson(format === "json" ? text : formatLine(text))) },
  );
}

function truncated(entry: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(entry).map(([name, value]) => [name, cut(value)]));
}

function cut(value: unknown): unknown {
  if (typeof value !== "string" || value.length <= MAX_VALUE_LENGTH) return value;
  return `${value.slice(0, MAX_VALUE_LENGTH)}… (${value.length} characters)`;
}
