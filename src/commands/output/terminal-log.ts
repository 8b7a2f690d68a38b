import { createLog, type Log, type LogLevel } from "../../log/log.ts";
import { withoutCommands } from "../../render/escape.ts";
import type { Invocation } from "../command.ts";
import { logOf } from "./json-log-stream.ts";

/** The log of a command: to stderr, at the level and in the format that its flags say. */
export function terminalLog(
  { flags, terminal: { stderr } }: Pick<Invocation, "flags" | "terminal">,
  level: LogLevel = "warn",
): Log {
  const log = logOf(stderr);
  if (log !== null) return log.child({}, { level: flags.logLevel ?? level });
  return createLog({
    level: flags.logLevel ?? level,
    format: flags.logFormat ?? (stderr.isTTY ? "pretty" : "json"),
    // What requests and replies say ends up here too.
    stream: { write: (line) => stderr.write(withoutCommands(line)) },
  });
}
