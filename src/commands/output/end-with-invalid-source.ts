// src/commands/output: where a command writes: results, logs and progress. See docs/output.md#text.

import { exitCodes } from "../../core/errors.ts";
import type { PassResult } from "../../core/report/events.ts";
import { sourceRefusal } from "../../core/report/source-refusal.ts";
import { diagnosticsText } from "../../render/diagnostics.ts";
import { failureReport } from "../../render/failure.ts";
import type { Invocation } from "../command.ts";
import { toHoldfastError } from "../errors/to-holdfast-error.ts";
import { writeResult } from "../terminal.ts";
import { terminalViewOf } from "./terminal-view.ts";

/** Shows the diagnostics of a failure. */
export function showFaults(error: unknown, invocation: Invocation): void {
  const failure = toHoldfastError(error);
  if (failure === null) return;
  invocation.terminal.stderr.write(diagnosticsText(failure.diagnostics, terminalViewOf(invocation).diagnosticView));
}

/** Ends a command whose source has errors, which were already reported. */
export async function endWithInvalidSource(end: PassResult, invocation: Invocation): Promise<number> {
  const { output } = terminalViewOf(invocation);
  if (end.what === "read") {
    const { message, hint } = sourceRefusal(end, invocation.flags);
    const { diagnostics } = end;
    const failure = { code: "invalid", message, hint: `nothing was sent; ${hint}`, diagnostics } as const;
    if (output === "json")
      await writeResult(invocation.terminal, failureReport(failure, invocation.terminal.warnings.all()));
    if (invocation.flags.output !== undefined) {
      const { writeFailureFiles } = await import("./write-outputs.ts");
      writeFailureFiles(invocation, failure);
    }
  }
  return exitCodes.invalid;
}
