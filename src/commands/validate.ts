import { sortDiagnostics } from "../core/diagnostic.ts";
import { exitCodes } from "../core/errors.ts";
import type { ValidationReport } from "../core/report.ts";
import { diagnosticsText, severityCounts, validationLine } from "../render/diagnostics.ts";
import { jsonText } from "../render/json.ts";
import type { Invocation } from "./command.ts";
import { prepare } from "./prepare.ts";
import { writeResult } from "./terminal.ts";

/** Checks manifests offline. */
export async function run(invocation: Invocation): Promise<number> {
  const { loaded, diagnostics, selected, isWhole, settings } = await prepare(invocation);
  const files = isWhole ? loaded.files : new Set(selected.map(({ file }) => file)).size;
  const report: ValidationReport = {
    format_version: "1.0",
    summary: { files, manifests: selected.length, ...severityCounts(diagnostics) },
    diagnostics: sortDiagnostics(diagnostics),
  };
  const { errors, warnings } = report.summary;
  const declared = isWhole ? loaded.documents : null;
  const text =
    diagnosticsText(diagnostics, settings.diagnosticView) +
    validationLine({ ...report.summary, declared, strict: settings.strict });
  await writeResult(invocation.terminal, settings.output === "json" ? jsonText(report) : text);
  if (loaded.files === 0) invocation.terminal.stderr.write("warning: no manifest files were found\n");
  return errors > 0 || (settings.strict && warnings > 0) ? exitCodes.invalid : 0;
}
