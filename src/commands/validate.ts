import { sortDiagnostics } from "../core/diagnostic.ts";
import { exitCodes } from "../core/errors.ts";
import type { ValidationReport } from "../core/report.ts";
import { readDesired } from "../engine/read-desired.ts";
import { diagnosticsText, severityCounts, validationLine } from "../render/diagnostics.ts";
import { jsonText } from "../render/json.ts";
import type { InvocationOf } from "./command.ts";
import type { validate } from "./declarations/validate.ts";
import { onEachTarget } from "./each-target.ts";
import { outputOptionsOf } from "./output-options.ts";
import { openTarget } from "./target.ts";
import { writeResult } from "./terminal.ts";

/** Checks manifests offline. */
export const run = onEachTarget(runOnTarget);

async function runOnTarget(invocation: InvocationOf<typeof validate>): Promise<number> {
  const { terminal } = invocation;
  const view = outputOptionsOf(invocation);
  await using target = await openTarget(invocation, { reading: true, reportsConfig: true, doesWithoutGit: true });
  const { counts, event, rules } = await readDesired(target, terminal);
  const diagnostics = event.selected;
  const report: ValidationReport = {
    format_version: "2.0",
    summary: { ...counts, ...severityCounts(diagnostics) },
    diagnostics: sortDiagnostics(diagnostics),
  };
  const { errors, warnings } = report.summary;
  const declared = counts.manifests + counts.faulty;
  const text =
    diagnosticsText(diagnostics, view.diagnosticView) +
    validationLine({ ...report.summary, declared, strict: rules.strict });
  await writeResult(terminal, view.output === "json" ? jsonText(report) : text);
  if (event.files === 0) terminal.stderr.write("warning: no manifest files were found\n");
  return errors > 0 || (rules.strict && warnings > 0) ? exitCodes.invalid : 0;
}
