import type { Diagnostic } from "../../core/diagnostic.ts";
import { strictRefusal } from "../../core/run-warning.ts";
import { diagnosticsText } from "../../render/diagnostics.ts";
import { plain } from "../../render/paint.ts";
import { columnsOn, type Terminal } from "../terminal.ts";

/** The warnings about a run: each is printed on stderr and kept for the result. */
export type Warnings = {
  /** Adds a warning; with `--strict` the command then fails when it ends. */
  readonly add: (warning: Diagnostic) => void;
  /** Adds a warning of a command that has sent nothing yet; with `--strict` it ends here. */
  readonly addEarly: (warning: Diagnostic) => void;
  readonly all: () => readonly Diagnostic[];
  /** Calls a listener with each later warning. */
  readonly follow: (listener: (warning: Diagnostic) => void) => void;
  /** The same warnings, printed on another stream. */
  readonly printedOn: (stderr: Terminal["stderr"]) => Warnings;
};

/** A daemon may run for months. */
const MAX_KEPT = 100;

/** Creates the warnings of a command that has none yet. */
export function createWarnings(
  stream: Pick<Terminal, "stderr">,
  { isStrict = false }: { readonly isStrict?: boolean } = {},
): Warnings {
  const listeners: ((warning: Diagnostic) => void)[] = [];
  let kept: readonly Diagnostic[] = [];
  const keep = (warning: Diagnostic): void => {
    for (const listener of listeners) listener(warning);
    if (!kept.some(({ summary }) => summary === warning.summary)) kept = [...kept, warning].slice(-MAX_KEPT);
  };
  const printedOn = (stderr: Terminal["stderr"]): Warnings => {
    const add = (warning: Diagnostic): void => {
      stderr.write(diagnosticsText([warning], { paint: plain, width: columnsOn(stderr), excerptOf: () => null }));
      keep(warning);
    };
    return {
      add,
      addEarly: (warning) => {
        if (isStrict) throw strictRefusal([warning]);
        add(warning);
      },
      all: () => kept,
      follow: (listener) => void listeners.push(listener),
      printedOn,
    };
  };
  return printedOn(stream.stderr);
}
