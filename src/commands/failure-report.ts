import { exitCodes, type HoldfastError } from "../core/errors.ts";
import type { PassEnd } from "../core/events.ts";
import { diagnosticsText } from "../render/diagnostics.ts";
import { failureReport } from "../render/failure.ts";
import type { Invocation } from "./command.ts";
import { failureOf } from "./failure.ts";
import { outputOptionsOf } from "./output-options.ts";
import { hasResult, writeResult } from "./terminal.ts";

/** Shows what input a failure is about; with `-o json` the failure is the result, unless there is one already. */
export async function reportFailure(error: unknown, invocation: Invocation): Promise<void> {
  const failure = failureOf(error);
  if (failure === null) return;
  const { output, diagnosticView } = outputOptionsOf(invocation);
  invocation.terminal.stderr.write(diagnosticsText(failure.diagnostics, diagnosticView));
  if (output === "json" && !hasResult(invocation.terminal)) await writeFailure(failure, invocation);
}

/** Ends a command whose source has errors, which were reported already. */
export async function refuseSource(end: PassEnd, invocation: Invocation): Promise<number> {
  const { output } = outputOptionsOf(invocation);
  if (output === "json" && end.what === "read") {
    const hint = "nothing was sent; --partial goes on with the valid manifests";
    await writeFailure(
      { code: "invalid", message: "the source has errors", hint, diagnostics: end.diagnostics },
      invocation,
    );
  }
  return exitCodes.invalid;
}

type Failure = Pick<HoldfastError, "code" | "message" | "hint" | "diagnostics">;

function writeFailure(failure: Failure, { terminal }: Invocation): Promise<void> {
  return writeResult(terminal, failureReport(failure));
}
