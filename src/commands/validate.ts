import { join } from "node:path/posix";
import { sortDiagnostics } from "../core/diagnostic.ts";
import { exitCodes } from "../core/errors.ts";
import { FORMAT_VERSION } from "../core/format-version.ts";
import type { ValidationReport } from "../core/report/report.ts";
import { load } from "../engine/load.ts";
import { diagnosticRemarks } from "../render/ci/annotations.ts";
import { sarifReport } from "../render/ci/sarif.ts";
import { diagnosticsText, severityCounts, validationText } from "../render/diagnostics.ts";
import { jsonText } from "../render/escape.ts";
import { leftOutText, otherDocumentsText } from "../render/left-out.ts";
import { validationMarkdown } from "../render/markdown/diagnostics.ts";
import { contentTop } from "../source/source-root.ts";
import type { InvocationOf } from "./command.ts";
import type { validate } from "./declarations/validate.ts";
import { diagnosticViewOn, terminalViewOf } from "./output/terminal-view.ts";
import { folderInCheckout, openOutputs } from "./output/write-outputs.ts";
import { type FindTarget, onEachTarget } from "./targets/on-each-target.ts";

/** Checks manifests offline. */
export const run = onEachTarget(runOnTarget);

async function runOnTarget(invocation: InvocationOf<typeof validate>, find: FindTarget): Promise<number> {
  const { terminal } = invocation;
  const view = terminalViewOf(invocation);
  await using target = await find({ reading: true, reportsConfig: true, isCommitOptional: true });
  const write = openOutputs(invocation, contentTop(target.source.root));
  const { counts, event, rules } = await load(target, terminal);
  const { selected: diagnostics, otherDocuments } = event;
  const lists = invocation.flags.show?.includes("unmanaged") ?? false;
  const report: ValidationReport = {
    format_version: FORMAT_VERSION,
    summary: {
      ...counts,
      ...severityCounts(diagnostics),
      unmanaged: otherDocuments.documents,
      unmanagedTypes: Object.fromEntries(otherDocuments.types),
      ...(event.leftOut.size === 0 ? {} : { ignored: Object.fromEntries(event.leftOut) }),
    },
    diagnostics: sortDiagnostics(diagnostics),
    ...(lists ? { unmanaged: sortDiagnostics(otherDocuments.diagnostics) } : {}),
  };
  const { errors, warnings } = report.summary;
  const declared = counts.manifests + counts.faulty;
  const text =
    diagnosticsText(diagnostics, diagnosticViewOn(terminal.stdout, invocation)) +
    otherDocumentsText(otherDocuments, { width: view.width, lists }) +
    leftOutText(event, view) +
    validationText({ ...report.summary, declared, strict: rules.strict }, view.width);
  const folder = folderInCheckout(terminal);
  await write({
    render: (format) => {
      if (format === "json") return jsonText(report);
      return format === "sarif" ? sarifReport(diagnostics, (file) => join(folder, file)) : text;
    },
    job: () => ({
      remarks: diagnosticRemarks(diagnostics),
      summary: validationMarkdown(report),
      outputs: [
        ["errors", String(report.summary.errors)],
        ["warnings", String(report.summary.warnings)],
      ],
    }),
  });
  return errors > 0 || (rules.strict && warnings > 0) ? exitCodes.invalid : 0;
}
