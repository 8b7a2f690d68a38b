// src/log: the log. See docs/operations.md#the-log-of-the-control-plane.

import { type Logger, pino, stdSerializers } from "pino";
import { isObject, type Json, parseJsonOrNull } from "../contract/json.ts";
import { escapeJson } from "../model/unprintable.ts";

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

const shownFirst: readonly string[] = ["level", "time", "msg", "err"];

// Formats a line of the JSON log as text for people: time, level, message, then the rest as `key=value`.
function formatLine(text: string): string {
  const entry = parseJsonOrNull(text);
  if (!isObject(entry)) return text;
  const { level, time, msg, err } = entry;
  const rest = Object.entries(entry)
    .filter(([key, value]) => !shownFirst.includes(key) && value !== null)
    .map(([key, value]) => `${key}=${shown(value)}`);
  const error = isObject(err) ? [`error=${shown(err.message ?? "")}`] : [];
  const head = [typeof time === "string" ? time.slice(11, 23) : "", String(level).toUpperCase().padEnd(5)];
  return `${[...head, shown(msg ?? ""), ...rest, ...error].join(" ")}\n`;
}

// Other characters are quoted, so that no value can forge a line.
function shown(value: Json): string {
  if (typeof value !== "string") return JSON.stringify(value);
  return /^[\w.,:;/@+*()[\] '’-]*$/u.test(value) ? value : JSON.stringify(value);
}
