import { createLog, type Log, type LogFormat, type LogLevel } from "../../log/log.ts";
import { withoutCommands } from "../../render/escape.ts";
import type { Invocation } from "../command.ts";
import type { Terminal } from "../terminal.ts";
import { logOf, logStream } from "./log-stream.ts";

/** A stderr that writes to a log on a stream. */
export function loggingStderr(
  stream: Terminal["stderr"],
  { format = "json", level = "info" }: { readonly format?: LogFormat; readonly level?: LogLevel } = {},
): Terminal["stderr"] {
  const write = (line: string): void => void stream.write(withoutCommands(line));
  return logStream(createLog({ level, format, stream: { write } }));
}

/** The log of a command on stderr, with the level and format of its flags. */
export function terminalLog({ flags, terminal: { stderr } }: Invocation, level: LogLevel = "warn"): Log {
  const log = logOf(stderr);
  if (log !== null) return log.child({}, { level: flags.logLevel ?? level });
  return createLog({
    level: flags.logLevel ?? level,
    // Only --log-format json makes every line of stderr JSON; otherwise a line of the log stands among text.
    format: flags.logFormat ?? "pretty",
    // Messages can quote requests and replies, which may contain terminal commands.
    stream: { write: (line) => stderr.write(withoutCommands(line)) },
  });
}
