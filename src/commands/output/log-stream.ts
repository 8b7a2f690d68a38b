import { Writable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import type { Log } from "../../log/log.ts";
import { failureText, isAsked, type SaidFailure } from "../../render/failure.ts";
import { columnsOn, sentence, type Terminal } from "../terminal.ts";

const logs = new WeakMap<Terminal["stderr"], Log>();

/** The log that a stderr writes to; null if it is a text stream. */
export function logOf(stream: Terminal["stderr"]): Log | null {
  return logs.get(stream) ?? null;
}

/** The same stderr with a `target` field on each line; null if it is a text stream. */
export function withTarget(stream: Terminal["stderr"], target: string): Terminal["stderr"] | null {
  const log = logOf(stream);
  return log === null ? null : logStream(log.child({ target }));
}

/** What is told: to a log as one line with an event of its own, and to people as text. */
export type Told = {
  readonly level?: "info" | "warn" | "error";
  readonly event: string;
  readonly message: string;
  readonly revision?: string | null;
  readonly [field: string]: unknown;
};

/** Writes an event to the log of a stderr, or its text to a text stream. */
export function tell(
  stream: Terminal["stderr"],
  { level = "info", message, ...fields }: Told,
  text: () => string,
): void {
  const log = logOf(stream);
  if (log === null) stream.write(text());
  else log[level]({ revision: null, identity: null, ...fields }, message);
}

/** Tells a failure with its next step under this event, unless the user has asked for the end: that is none. */
export function tellFailure(stream: Terminal["stderr"], event: string, failure: SaidFailure): void {
  const { code, message, hint } = failure;
  const fields = { event, message, hint, ...(code === undefined ? {} : { code }) };
  tell(stream, { level: isAsked(failure) ? "info" : "error", ...fields }, () =>
    failureText(failure, columnsOn(stream)),
  );
}

/** Says what the command waits for. */
export function sayWait({ stderr }: Terminal, text: string): void {
  tell(stderr, { event: "waiting", message: text }, () => sentence(`waiting: ${text}`, stderr));
}

const failed = new WeakMap<object, Terminal["stderr"]>();

/** Notes where an error is told once it has ended the command: it belongs to one of several targets. */
export function tellOn(stream: Terminal["stderr"], error: unknown): void {
  if (error instanceof Error) failed.set(error, stream);
}

/** The stderr on which an error is told: that of its target, or the one of the command. */
export function streamFor(error: unknown, stream: Terminal["stderr"]): Terminal["stderr"] {
  return (error instanceof Error && failed.get(error)) || stream;
}

/** A stderr that writes each line of text as the message of one line of a log. */
export function logStream(log: Log): Terminal["stderr"] {
  let rest = "";
  const lines = new Writable({
    decodeStrings: false,
    write: (part: string | Buffer, _, done) => {
      const text = rest + part.toString();
      const end = text.lastIndexOf("\n") + 1;
      rest = text.slice(end);
      for (const message of messagesIn(text.slice(0, end))) say(log, message);
      done();
    },
  });
  // A message is one line of any width.
  const stream = Object.assign(lines, { isTTY: false, columns: Number.POSITIVE_INFINITY });
  logs.set(stream, log);
  return stream;
}

// An indented line continues the previous one.
function messagesIn(text: string): readonly string[] {
  const lines = stripVTControlCharacters(text).split("\n");
  const messages: string[] = [];
  for (const line of lines.filter((one) => one.trim() !== "")) {
    const last = messages.length - 1;
    if (line.startsWith("  ") && last >= 0) messages[last] += ` ${line.trim()}`;
    else messages.push(line.trim());
  }
  return messages;
}

function say(log: Log, text: string): void {
  const [, severity, message] = /^(?:(error|warning): )?(.*)$/s.exec(text) ?? [];
  const level = severity === "error" || / error: /.test(text) ? "error" : severity === "warning" ? "warn" : "info";
  log[level]({ event: "message", revision: null, identity: null }, message ?? text);
}
