import type { DiagnosticView } from "../render/diagnostics.ts";
import { choosePaint, type Paint, plain } from "../render/paint.ts";
import { excerptReader } from "../source/excerpt.ts";
import type { Invocation } from "./command.ts";

/** How a command shows things. */
export type OutputOptions = {
  readonly output: "text" | "json";
  readonly paint: Paint;
  readonly diagnosticView: DiagnosticView;
};

/** How the user wants things shown. */
export function outputOptionsOf({ flags, terminal }: Pick<Invocation, "flags" | "terminal">): OutputOptions {
  const paint = choosePaint(terminal.stdout, terminal.env, { noColor: flags.color === false });
  // Source lines are shown to people; logs and machines get the position alone.
  const excerptOf = paint === plain ? () => null : excerptReader(terminal.cwd);
  return { output: flags.output ?? "text", paint, diagnosticView: { paint, excerptOf } };
}
