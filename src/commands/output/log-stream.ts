import { Writable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import type { Log } from "../../log/log.ts";
import type { Terminal } from "../terminal.ts";

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
