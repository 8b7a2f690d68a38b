import { type Diagnostic, sortDiagnostics, summaryText } from "../../core/diagnostic.ts";
import type { ValidationReport } from "../../core/report/report.ts";
import { joinCounts } from "../count-text.ts";
import { relatedText } from "../diagnostics.ts";
import { codeSpan } from "./code-markup.ts";

/** Maximum number of diagnostics shown; the rest is counted. */
const MAX_SHOWN = 10;

/** A list with errors first, then warnings; empty when there are none. */
export function diagnosticsMarkdown(diagnostics: readonly Diagnostic[]): readonly string[] {
  if (diagnostics.length === 0) return [];
  const { error = [], warning = [] } = Object.groupBy(sortDiagnostics(diagnostics), ({ severity }) => severity);
  const lines = [...error, ...warning].slice(0, MAX_SHOWN).map((diagnostic) => {
    const { severity, summary, documents, file, line } = diagnostic;
    const related = relatedText(diagnostic);
    const others = related === "" ? "" : `, ${codeSpan(related)}`;
    const place = file === null ? "" : ` in ${codeSpan(`${file}:${line ?? 1}`)}${others}`;
    return `- ${severity}: ${codeSpan(summaryText({ summary, documents }))}${place}`;
  });
  const rest = diagnostics.length - lines.length;
  return [["**In the input**", "", ...lines, ...(rest === 0 ? [] : [`- and ${rest} more`])].join("\n")];
}

/** The result of validation, as Markdown. */
export function validationMarkdown({ summary, diagnostics }: ValidationReport): string {
  const { errors, warnings, manifests } = summary;
  const found = joinCounts([
    [errors, errors === 1 ? "error" : "errors"],
    [warnings, warnings === 1 ? "warning" : "warnings"],
    [manifests, "valid"],
  ]);
  return [
    `### Holdfast validate: ${found === "" ? "no manifests" : found}`,
    ...diagnosticsMarkdown(diagnostics),
    "",
  ].join("\n\n");
}
