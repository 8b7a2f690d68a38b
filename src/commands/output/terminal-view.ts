import type { DiagnosticView } from "../../render/diagnostics.ts";
import { type OutputFormat, stdoutFormat } from "../../render/output-format.ts";
import { choosePaint, type Paint, plain } from "../../render/paint.ts";
import { excerptReader } from "../../source/excerpt-reader.ts";
import type { Invocation } from "../command.ts";
import { columnsOn, type Terminal } from "../terminal.ts";

/** How a command formats output for its terminal. */
export type TerminalView = {
  /** The format on stdout. */
  readonly output: OutputFormat;
  readonly paint: Paint;
  /** How diagnostics are shown on stderr. */
  readonly diagnosticView: DiagnosticView;
  /** Maximum columns of a line. */
  readonly width: number;
  /** Rows of the terminal; null if stdout is not a terminal. */
  readonly rows: number | null;
  /** The current time in epoch milliseconds on a terminal, which shows ages; null elsewhere, because files show times. */
  readonly now: number | null;
};

/** The minimum width of a report. */
const MIN_COLUMNS = 40;

/** The view that the flags and the terminal of a command ask for. */
export function terminalViewOf(invocation: Invocation): TerminalView {
  const { flags, terminal } = invocation;
  const { stdout, stderr } = terminal;
  const { rows = null, isTTY = false } = stdout;
  return {
    output: stdoutFormat(flags.output),
    paint: choosePaint(stdout, terminal.env, { noColor: flags.color === false }),
    diagnosticView: diagnosticViewOn(stderr, invocation),
    width: Math.max(MIN_COLUMNS, columnsOn(stdout)),
    rows,
    now: isTTY ? terminal.clock.now() : null,
  };
}

/** How diagnostics are shown on a stream. */
export function diagnosticViewOn(stream: Terminal["stdout"], { flags, terminal }: Invocation): DiagnosticView {
  const paint = choosePaint(stream, terminal.env, { noColor: flags.color === false });
  // Excerpts of the source are only for people; logs and machines get the position.
  const excerptOf = paint === plain ? () => null : excerptReader(terminal.cwd);
  return { paint, excerptOf, width: columnsOn(stream) };
}
