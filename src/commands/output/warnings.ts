import type { Diagnostic } from "../../core/diagnostic.ts";
import { strictRefusal } from "../../core/run-warning.ts";
import { diagnosticsText } from "../../render/diagnostics.ts";
import { plain } from "../../render/paint.ts";
import { columnsOn, type Terminal, type Warnings } from "../terminal.ts";
import { tell } from "./log-stream.ts";

/** A daemon may run for months. */
const MAX_KEPT = 100;

/** Creates the warnings of a command that has none yet. */
export function createWarnings(
  stream: Terminal["stderr"],
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
      const { code, summary, detail } = warning;
      tell(stderr, { level: "warn", event: code, message: summary, hint: detail }, () =>
        diagnosticsText([warning], { paint: plain, width: columnsOn(stderr), excerptOf: () => null }),
      );
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
  return printedOn(stream);
}
