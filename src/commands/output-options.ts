import type { DiagnosticView } from "../render/diagnostics.ts";
import { type OutputFormat, stdoutFormat } from "../render/output.ts";
import { choosePaint, type Paint, plain } from "../render/paint.ts";
import { excerptReader } from "../source/excerpt.ts";
import type { Invocation } from "./command.ts";

/** How a command shows things. */
export type OutputOptions = {
  /** The form of what goes to stdout. */
  readonly output: OutputFormat;
  readonly paint: Paint;
  readonly diagnosticView: DiagnosticView;
  /** Columns that a line may take. */
  readonly width: number;
  /** Rows of the terminal; null where it is none. */
  readonly rows: number | null;
  /** The current time in epoch milliseconds on a terminal, where ages are shown; null elsewhere, where times are. */
  readonly now: number | null;
};

/** Columns where the terminal's are not known, and the fewest that a report is laid out for. */
const COLUMNS = 80;
const FEWEST_COLUMNS = 60;

/** How the user wants things shown. */
export function outputOptionsOf({ flags, terminal }: Pick<Invocation, "flags" | "terminal">): OutputOptions {
  const paint = choosePaint(terminal.stdout, terminal.env, { noColor: flags.color === false });
  // Source lines are shown to people; logs and machines get the position alone.
  const excerptOf = paint === plain ? () => null : excerptReader(terminal.cwd);
  const { columns = COLUMNS, rows = null, isTTY = false } = terminal.stdout;
  return {
    output: stdoutFormat(flags.output),
    paint,
    diagnosticView: { paint, excerptOf },
    width: Math.max(FEWEST_COLUMNS, columns),
    rows,
    now: isTTY ? terminal.now() : null,
  };
}
