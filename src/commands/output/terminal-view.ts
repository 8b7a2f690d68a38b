import type { DiagnosticView } from "../../render/diagnostics.ts";
import { type OutputFormat, stdoutFormat } from "../../render/output-format.ts";
import { choosePaint, type Paint, plain } from "../../render/paint.ts";
import { excerptReader } from "../../source/excerpt-reader.ts";
import type { Invocation } from "../command.ts";
import { columnsOn, type Terminal } from "../terminal.ts";

/** How a command shows things on its terminal. */
export type TerminalView = {
  /** The form of what goes to stdout. */
  readonly output: OutputFormat;
  readonly paint: Paint;
  /** How diagnostics are shown on stderr. */
  readonly diagnosticView: DiagnosticView;
  /** Columns that a line may take. */
  readonly width: number;
  /** Rows of the terminal; null where it is none. */
  readonly rows: number | null;
  /** The current time in epoch milliseconds on a terminal, where ages are shown; null elsewhere, where times are. */
  readonly now: number | null;
};

/** The fewest columns that a report is laid out for. */
const MIN_COLUMNS = 40;

/** How the user wants things shown. */
export function terminalViewOf(invocation: Pick<Invocation, "flags" | "terminal">): TerminalView {
  const { flags, terminal } = invocation;
  const { stdout, stderr } = terminal;
  const { rows = null, isTTY = false } = stdout;
  return {
    output: stdoutFormat(flags.output),
    paint: choosePaint(stdout, terminal.env, { noColor: flags.color === false }),
    diagnosticView: diagnosticViewOn(stderr, invocation),
    width: Math.max(MIN_COLUMNS, columnsOn(stdout)),
    rows,
    now: isTTY ? terminal.now() : null,
  };
}

/** How diagnostics are shown on a stream. */
export function diagnosticViewOn(
  stream: Terminal["stdout"],
  { flags, terminal }: Pick<Invocation, "flags" | "terminal">,
): DiagnosticView {
  const paint = choosePaint(stream, terminal.env, { noColor: flags.color === false });
  // Source lines are shown to people; logs and machines get the position alone.
  const excerptOf = paint === plain ? () => null : excerptReader(terminal.cwd);
  return { paint, excerptOf, width: columnsOn(stream) };
}
